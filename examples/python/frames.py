"""The frames of docs/protocol.md, for workers in Python: seal what is sent, open what the coordinator signed."""
import base64, hashlib, struct
import nacl.exceptions, nacl.signing, nkeys

DOMAIN, HEAD = b"byz frame 1\n", struct.Struct("<4sBBH16sQIII4xQd32s32s")  # and 64 bytes of signature
HELLO, INVITATION, MODEL, UPDATE, END = range(1, 6)
sha256 = lambda data: hashlib.sha256(data).digest()


class Wire:
    def __init__(self, secrets):  # the credentials file of `byz net config`
        self.me = secrets["worker"]
        self.signer = nkeys.from_seed(secrets["signing"].encode())
        self.coordinator = nacl.signing.VerifyKey(base64.b32decode(secrets["coordinator"])[1:33])

    def seal(self, kind, run=bytes(16), round=0, chunk=0, chunks=1, dimension=0, loss=0.0, model=bytes(32), payload=b""):
        number = 1 if kind == UPDATE else 0  # f32, or none
        head = HEAD.pack(b"BYZ\1", kind, number, 0, run, round, self.me, chunk, chunks, dimension, loss, model, sha256(payload))
        return head + self.signer.sign(DOMAIN + head) + payload

    def opened(self, frame):  # the header's fields and the payload, if the coordinator signed them; else None
        try:
            self.coordinator.verify(DOMAIN + frame[:128], frame[128:192])
        except (nacl.exceptions.BadSignatureError, ValueError):
            return None
        fields, payload = HEAD.unpack(frame[:128]), frame[192:]
        return (fields, payload) if sha256(payload) == fields[-1] else None
