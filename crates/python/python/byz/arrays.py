"""One array of NumPy, PyTorch or another library, as the engine reads it, and numbers of the engine as such an array."""

from __future__ import annotations

import sys
import warnings
from typing import Any, NamedTuple

import numpy as np

# What the engine reads as it is. Another byte order is another type.
FLOATS = {np.dtype(name): name for name in ("float16", "float32", "float64")}


class Unreadable(TypeError):
    """This is no message; says why."""

    place: tuple[Any, ...] = ()
    """The keys of what cannot be read, in a message of many arrays."""


class WrongType(Unreadable):
    """Numbers, but no floats."""


class CopyWarning(UserWarning):
    """Tensors are copied to the CPU."""


class Part(NamedTuple):
    """One array of a message."""

    array: np.ndarray
    """As the engine reads it: bfloat16 as uint16."""
    dtype: str
    shape: tuple[int, ...]
    source: Any
    """What the user gave, as an array or tensor."""

    def restored(self, vector: np.ndarray) -> Any:
        """Part of an aggregate in the shape, type and place of this array."""
        return like(self.source, self.dtype, vector.reshape(self.shape))


def read_array(value: Any) -> Part:
    """An array as the engine reads it."""
    if type(value) is not np.ndarray and not is_tensor(value):
        value = _as_array(value)
    array, dtype = _of_tensor(value) if is_tensor(value) else _of_numpy(value)
    return Part(array, dtype, array.shape, value)


def _of_numpy(array: np.ndarray) -> tuple[np.ndarray, str]:
    known = FLOATS.get(array.dtype)
    if known is not None:
        return array, known
    dtype = array.dtype
    if dtype.name == "bfloat16":
        return array.view(np.uint16), "bfloat16"
    if dtype.kind != "f" or dtype.itemsize not in (2, 4, 8):
        raise WrongType(f"expected float16, bfloat16, float32 or float64, got {dtype.name}; convert it first")
    return array.astype(dtype.newbyteorder("=")), dtype.name


def _as_array(value: Any) -> Any:
    if isinstance(value, np.ma.MaskedArray):
        raise Unreadable("a masked array has no values under its mask; fill it first, with filled()")
    if isinstance(value, (int, float, list, tuple)):
        try:
            return np.array(value, dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as problem:
            raise Unreadable(f"expected numbers: {problem}") from None
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value)
    if not is_foreign(value):
        raise Unreadable(f"expected an array of floats, got {kind_of(value)}")
    return np.asarray(value) if hasattr(value, "__array__") or not hasattr(value, "__dlpack__") else _from_dlpack(value)


def is_foreign(value: Any) -> bool:
    """Whether it is an array of another library: by NumPy's protocol, DLPack, or Python's buffers."""
    if hasattr(value, "__array__") or hasattr(value, "__dlpack__"):
        return True
    try:
        memoryview(value).release()
    except TypeError:
        return False
    return True


def _from_dlpack(value: Any) -> Any:
    """An array, or a tensor of what NumPy cannot hold: bfloat16, and memory of other devices."""
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError) as problem:
        try:
            import torch
        except ImportError:
            raise Unreadable(f"{raised(problem)}; PyTorch may read it, but is not installed: convert it to float32 on the CPU") from None
        return torch.from_dlpack(value)


def widened(array: np.ndarray) -> np.ndarray:
    """An array for arithmetic in NumPy: bfloat16, which came as uint16, and float16 as float32."""
    if array.dtype == np.uint16:
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float32) if array.dtype == np.float16 else array


_told_of_devices = False


def _of_tensor(tensor: Any) -> tuple[np.ndarray, str]:
    torch = sys.modules["torch"]
    dtype = str(tensor.dtype).removeprefix("torch.")
    if dtype not in ("float16", "bfloat16", "float32", "float64") or tensor.layout is not torch.strided or tensor.is_nested:
        raise WrongType(f"expected a dense tensor of floats, got {dtype}, {'nested' if tensor.is_nested else tensor.layout}; convert it first")
    tensor = tensor.detach()
    if tensor.device.type != "cpu":
        tensor = _on_cpu(tensor)
    if dtype == "bfloat16":
        return tensor.resolve_neg().view(torch.int16).numpy().view(np.uint16), dtype
    try:
        return tensor.numpy(), dtype
    except RuntimeError:
        # A view with the sign turned, as the imaginary part of a conjugate is.
        return tensor.resolve_neg().numpy(), dtype


def _on_cpu(tensor: Any) -> Any:
    if tensor.is_meta:
        raise Unreadable("a tensor on the device meta has no values")
    global _told_of_devices
    if not _told_of_devices:
        _told_of_devices = True
        warnings.warn(f"byz aggregates on the CPU: tensors on {tensor.device} are copied", CopyWarning, stacklevel=8)
    return tensor.cpu()


def like(source: Any, dtype: str, values: np.ndarray) -> Any:
    """Values of the engine as what `source` is."""
    if is_tensor(source):
        return sys.modules["torch"].from_numpy(values).to(device=source.device, dtype=source.dtype)
    return values.astype(source.dtype if dtype == "bfloat16" else dtype, copy=False)


def is_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def kind_of(value: Any) -> str:
    return without_half_characters(f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins."))


def raised(problem: Exception) -> str:
    """What reading a message raised, in one line; its text may be as bad as the message."""
    try:
        lines = str(problem).splitlines()
    except Exception:
        lines = []
    return without_half_characters(f"reading it raised {type(problem).__name__}: {lines[0] if lines else ''}")


def without_half_characters(text: str) -> str:
    """A text of which parts come from outside, as the engine and a log can take it."""
    return text.encode(errors="replace").decode()
