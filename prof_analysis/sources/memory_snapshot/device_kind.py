"""Says whether a memory snapshot is of NPUs or of GPUs, by texts in it that PyTorch writes on one kind alone.

They are in frames and in the settings of the allocator. Snapshots of NPUs hold no settings, nor do old ones of GPUs.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from prof_analysis.common.input_files import opened

# A pickle holds each text once, as it is. To look for them one by one takes an eighth of the time of a regular expression.
_NPU = (b"PYTORCH_NPU_ALLOC_CONF", b"/torch_npu/", b"libtorch_npu", b"torch_npu::", b"c10_npu::", b"at_npu::")
_GPU = (
    *(b"PYTORCH_CUDA_ALLOC_CONF", b"libtorch_cuda.so", b"libc10_cuda.so", b"c10::cuda::"),
    *(b"libtorch_hip.so", b"libc10_hip.so", b"c10::hip::"),
)
_LONGEST_SIGN = 64
_PIECE_BYTES = 2**20


def device_kind_of(file: Path) -> str | None:
    """Return NPU or GPU; None where no text says it."""
    with suppress(OSError):
        for piece in _pieces(file):
            for kind, signs in (("NPU", _NPU), ("GPU", _GPU)):
                if any(sign in piece for sign in signs):
                    return kind
    return None


def _pieces(file: Path) -> Iterator[bytes]:
    """Yield the end of a file, where the settings are, then all of it; pieces begin with the end of the one before."""
    with opened(file) as content:
        content.seek(max(0, file.stat().st_size - _PIECE_BYTES))
        yield content.read(_PIECE_BYTES)
        content.seek(0)
        end = b""
        while piece := content.read(_PIECE_BYTES):
            yield end + piece
            end = piece[-_LONGEST_SIGN:]
