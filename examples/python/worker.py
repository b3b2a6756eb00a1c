"""A worker in Python: computes its gradients with PyTorch, on its own data, for a run of `byz coordinator` (task mnist_mlp).

    pip install nats-py nkeys numpy torch
    python worker.py nats://127.0.0.1:4222 worker-7.creds MNIST_DIRECTORY
    python worker.py tls://broker.example:4222 worker-7.creds MNIST_DIRECTORY ca.pem   # who signed the broker's certificate

The frames are those of docs/protocol.md. It keeps no momentum: the coordinator does (momentum = "server").
"""
import asyncio, base64, gzip, hashlib, ssl, struct, sys, tomllib
import nacl.exceptions, nacl.signing, nats, nkeys, numpy as np, torch
from torch.nn import Linear, ReLU, Sequential, functional
from torch.nn.utils import parameters_to_vector, vector_to_parameters

DOMAIN, HEAD = b"byz frame 1\n", struct.Struct("<4sBBH16sQIII4xQd32s32s")  # and 64 bytes of signature
HELLO, INVITATION, MODEL, UPDATE, END = range(1, 6)
url, folder, secrets = sys.argv[1], sys.argv[3], tomllib.load(open(sys.argv[2], "rb"))
tls = {"tls": ssl.create_default_context(cafile=sys.argv[4])} if len(sys.argv) > 4 else {}
me, name = secrets["worker"], secrets["name"]
signer = nkeys.from_seed(secrets["signing"].encode())
coordinator = nacl.signing.VerifyKey(base64.b32decode(secrets["coordinator"])[1:33])
sha256 = lambda data: hashlib.sha256(data).digest()


def seal(kind, run=bytes(16), round=0, chunk=0, chunks=1, dimension=0, loss=0.0, model=bytes(32), payload=b""):
    head = HEAD.pack(b"BYZ\1", kind, kind == UPDATE, 0, run, round, me, chunk, chunks, dimension, loss, model, sha256(payload))
    return head + signer.sign(DOMAIN + head) + payload


def opened(frame):  # the header's fields and the payload, if the coordinator signed them; else None
    try:
        coordinator.verify(DOMAIN + frame[:128], frame[128:192])
    except (nacl.exceptions.BadSignatureError, ValueError):
        return None
    fields, payload = HEAD.unpack(frame[:128]), frame[192:]
    return (fields, payload) if sha256(payload) == fields[-1] else None


def read(part, header):
    return np.frombuffer(gzip.open(f"{folder}/train-{part}-ubyte.gz").read(), np.uint8, offset=header)


labels = torch.from_numpy(read("labels-idx1", 8).astype(np.int64))
pixels = torch.from_numpy((read("images-idx3", 16).reshape(-1, 784) / np.float32(255) - np.float32(0.1307)) / np.float32(0.3081))
network = Sequential(Linear(784, 128), ReLU(), Linear(128, 64), ReLU(), Linear(64, 10))
dimension = parameters_to_vector(network.parameters()).numel()


def gradient(parameters, round):
    vector_to_parameters(torch.from_numpy(parameters), network.parameters())
    batch = torch.randint(len(labels), (64,), generator=torch.Generator().manual_seed(1000 * round + me))
    loss = functional.cross_entropy(network(pixels[batch]), labels[batch])
    return loss.item(), parameters_to_vector(torch.autograd.grad(loss, network.parameters()))


async def main():
    broker = await nats.connect(url, nkeys_seed_str=secrets["broker"], max_reconnect_attempts=-1, **tls)
    inbox, parts, current, asked = asyncio.Queue(), {}, (None, 0, None), None
    await broker.subscribe(f"byz.{name}.down", cb=inbox.put)
    await broker.subscribe(f"byz.{name}.to.{me}", cb=inbox.put)
    while True:
        try:
            frame = opened((await asyncio.wait_for(inbox.get(), 2)).data)
        except asyncio.TimeoutError:  # nothing for two seconds: hello, here I am
            await broker.publish(f"byz.{name}.up.{me}", seal(HELLO))
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
                update = seal(UPDATE, run, round, i, chunks, dimension, loss, model, piece.numpy().astype("<f4").tobytes())
                await broker.publish(f"byz.{name}.up.{me}", update)
            asked = None


asyncio.run(main())
