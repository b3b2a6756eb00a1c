"""A worker in Python: computes its gradients with PyTorch, on its own data, for a run of `byz coordinator` (task mnist_mlp).

    pip install nats-py nkeys numpy torch
    python worker.py nats://127.0.0.1:4222 worker-7.creds MNIST_DIRECTORY
    python worker.py tls://broker.example:4222 worker-7.creds MNIST_DIRECTORY ca.pem   # who signed the broker's certificate

The frames are those of docs/protocol.md, in frames.py. It keeps no momentum: the coordinator does (momentum = "server").
"""
import asyncio, gzip, ssl, sys, tomllib
import nats, numpy as np, torch
from torch.nn import Linear, ReLU, Sequential, functional
from torch.nn.utils import parameters_to_vector, vector_to_parameters
from frames import END, HELLO, INVITATION, MODEL, UPDATE, Wire, sha256

url, folder, secrets = sys.argv[1], sys.argv[3], tomllib.load(open(sys.argv[2], "rb"))
tls = {"tls": ssl.create_default_context(cafile=sys.argv[4])} if len(sys.argv) > 4 else {}
wire, subject = Wire(secrets), f"byz.{secrets['name']}"


def read(part, header):
    return np.frombuffer(gzip.open(f"{folder}/train-{part}-ubyte.gz").read(), np.uint8, offset=header)


labels = torch.from_numpy(read("labels-idx1", 8).astype(np.int64))
pixels = torch.from_numpy((read("images-idx3", 16).reshape(-1, 784) / np.float32(255) - np.float32(0.1307)) / np.float32(0.3081))
network = Sequential(Linear(784, 128), ReLU(), Linear(128, 64), ReLU(), Linear(64, 10))
dimension = parameters_to_vector(network.parameters()).numel()


def gradient(parameters, round):
    vector_to_parameters(torch.from_numpy(parameters), network.parameters())
    batch = torch.randint(len(labels), (64,), generator=torch.Generator().manual_seed(1000 * round + wire.me))
    loss = functional.cross_entropy(network(pixels[batch]), labels[batch])
    return loss.item(), parameters_to_vector(torch.autograd.grad(loss, network.parameters()))


async def main():
    broker = await nats.connect(url, nkeys_seed_str=secrets["broker"], max_reconnect_attempts=-1, **tls)
    inbox, parts, current, asked = asyncio.Queue(), {}, (None, 0, None), None
    for end in "down", f"to.{wire.me}":
        await broker.subscribe(f"{subject}.{end}", cb=inbox.put)
    while True:
        try:
            frame = wire.opened((await asyncio.wait_for(inbox.get(), 2)).data)
        except asyncio.TimeoutError:  # nothing for two seconds: hello, here I am
            await broker.publish(f"{subject}.up.{wire.me}", wire.seal(HELLO))
            continue
        if frame:
            (_, kind, number, _, run, round, _, chunk, chunks, length, _, model, digest), payload = frame
            if kind == END and run == current[0]:
                return await broker.drain()
            if kind == INVITATION and run != current[0]:
                current, parts = (run, 0, None), {}
            if kind == MODEL:
                if number != 1 or length != dimension:
                    sys.exit(f"the model has {length} numbers of type {number}; this network has {dimension} of type 1")
                if (run, round, model) != current:
                    current, parts = (run, round, model), {}
                parts[chunk] = (digest, payload)
                if len(parts) == chunks and sha256(b"".join(parts[i][0] for i in range(chunks))) == model:
                    if not asked or asked[0] != run or asked[1] <= round:
                        asked = run, round, model, chunks, b"".join(parts[i][1] for i in range(chunks))
                    parts = {}  # to be asked again takes a whole model
        if asked and inbox.empty():  # only the newest model is worth an answer
            run, round, model, chunks, parameters = asked
            # In a thread, so that what comes meanwhile is heard.
            loss, row = await asyncio.to_thread(gradient, np.frombuffer(parameters, "<f4").copy(), round)
            for i, piece in enumerate(row.split(-(-dimension // chunks))):  # cut as the model was
                update = wire.seal(UPDATE, run, round, i, chunks, dimension, loss, model, piece.numpy().astype("<f4").tobytes())
                await broker.publish(f"{subject}.up.{wire.me}", update)
            asked = None


asyncio.run(main())
