"""The frames of docs/protocol.md, for workers in Python: seal what is sent, open what the coordinator signed."""
import base64, hashlib, struct
from collections import namedtuple
import nacl.exceptions, nacl.signing, nkeys

DOMAIN, HEAD = b"byz frame 1\n", struct.Struct("<4sBBH16sQIII4xQd32s32s")  # and 64 bytes of signature
Header = namedtuple("Header", "magic kind number flags run round worker chunk chunks dimension loss model payload")
HELLO, INVITATION, MODEL, UPDATE, END = range(1, 6)
NONE, F32 = range(2)  # types of number
sha256 = lambda data: hashlib.sha256(data).digest()


class Wire:
    def __init__(self, secrets):  # the credentials file of `byz net config`
        self.me = secrets["worker"]
        self.signer = nkeys.from_seed(secrets["signing"].encode())
        self.coordinator = nacl.signing.VerifyKey(base64.b32decode(secrets["coordinator"])[1:33])
        self.model, self.parts = None, {}

    def seal(self, kind, run=bytes(16), round=0, chunk=0, chunks=1, dimension=0, loss=0.0, model=bytes(32), payload=b""):
        number = F32 if kind == UPDATE else NONE
        head = HEAD.pack(b"BYZ\1", kind, number, 0, run, round, self.me, chunk, chunks, dimension, loss, model, sha256(payload))
        return head + self.signer.sign(DOMAIN + head) + payload

    def opened(self, frame):  # its header and payload, if the coordinator signed them
        try:
            self.coordinator.verify(DOMAIN + frame[:128], frame[128:192])
        except (nacl.exceptions.BadSignatureError, ValueError):
            return None, None
        head, payload = Header(*HEAD.unpack(frame[:128])), frame[192:]
        return (head, payload) if sha256(payload) == head.payload else (None, None)

    def whole(self, head, payload):  # the model's bytes, when the last of its chunks has come
        if self.model != (head.run, head.round, head.model):
            self.model, self.parts = (head.run, head.round, head.model), {}
        self.parts[head.chunk] = head.payload, payload
        digests, payloads = zip(*(self.parts[i] for i in sorted(self.parts)))
        if len(payloads) < head.chunks or sha256(b"".join(digests)) != head.model:
            return None
        self.parts = {}  # the coordinator sends it whole again to who is to answer again
        return b"".join(payloads)
