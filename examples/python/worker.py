"""A worker in Python for `byz coordinator` (task mnist_mlp; the coordinator keeps the momentum): gradients by PyTorch, frames of docs/protocol.md.

    python worker.py tls://broker.example:4222 worker-7.creds MNIST_DIRECTORY [ca.pem: who signed the broker's certificate]
"""  # pip install nats-py nkeys numpy torch
import asyncio, gzip, ssl, sys, tomllib
import nats, numpy as np, torch
from torch.nn import Linear, ReLU, Sequential, functional
from torch.nn.utils import parameters_to_vector, vector_to_parameters
from frames import END, F32, HELLO, INVITATION, MODEL, UPDATE, Wire

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
    inbox, run, asked = asyncio.Queue(), None, None
    for end in "down", f"to.{wire.me}":
        await broker.subscribe(f"{subject}.{end}", cb=inbox.put)
    while True:
        try:
            head, payload = wire.opened((await asyncio.wait_for(inbox.get(), 2)).data)
        except asyncio.TimeoutError:  # nothing for two seconds: hello, here I am
            await broker.publish(f"{subject}.up.{wire.me}", wire.seal(HELLO))
            continue
        if head and head.kind == END and head.run == run:
            return await broker.drain()
        run = head.run if head and head.kind in (INVITATION, MODEL) else run
        if head and head.kind == MODEL and (head.number, head.dimension) != (F32, dimension):
            sys.exit(f"the model has {head.dimension} numbers of type {head.number}; this network has {dimension} of type {F32}")
        if head and head.kind == MODEL and (whole := wire.whole(head, payload)):
            asked = max(asked or (head, whole), (head, whole), key=lambda model: (model[0].run == run, model[0].round))
        if asked and inbox.empty():  # only the newest model is worth an answer; what comes meanwhile is heard
            (head, parameters), asked = asked, None
            loss, row = await asyncio.to_thread(gradient, np.frombuffer(parameters, "<f4").copy(), head.round)
            for i, piece in enumerate(row.split(-(-dimension // head.chunks))):  # cut as the model was
                numbers = piece.numpy().astype("<f4").tobytes()
                update = wire.seal(UPDATE, head.run, head.round, i, head.chunks, dimension, loss, head.model, numbers)
                await broker.publish(f"{subject}.up.{wire.me}", update)


asyncio.run(main())
