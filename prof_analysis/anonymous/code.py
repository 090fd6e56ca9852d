"""Whose code a Python file is: that of PyTorch, Python and other well-known packages, or of the user."""

import re
import sysconfig
from functools import lru_cache
from pathlib import Path

# Packages that anybody may have: their files say nothing of who runs them.
_PACKAGES = frozenset({
    "torch", "torch_npu", "torchair", "torchvision", "torchaudio", "torchrec", "torchtitan", "torchdata", "torch_xla",
    "functorch", "triton", "triton_ascend", "vllm", "vllm_ascend", "sglang", "sgl_kernel", "lmdeploy", "transformers",
    "accelerate", "deepspeed", "megatron", "mindspeed", "mindspeed_llm", "mindspeed_mm", "mindspeed_rl", "peft", "trl",
    "verl", "openrlhf", "diffusers", "datasets", "tokenizers", "safetensors", "huggingface_hub", "modelscope", "timm",
    "einops", "flash_attn", "xformers", "apex", "transformer_engine", "bitsandbytes", "lightning", "pytorch_lightning",
    "lightning_fabric", "ray", "numpy", "scipy", "pandas", "sklearn", "PIL", "cv2", "tqdm", "joblib", "dask", "uvloop",
    "uvicorn", "fastapi", "starlette", "zmq", "msgspec", "pydantic", "IPython", "ipykernel", "traitlets", "tornado", "acl",
    "te", "tbe", "mstx", "msprof", "prof_analysis",
})  # fmt: skip
# A checkout of a package: its folder around it has its name, or one of these.
_CHECKOUTS = {"pytorch": "torch", "megatron_lm": "megatron", "megatron_deepspeed": "megatron", "op_plugin": "torch_npu"}
_CHECKOUT = re.compile(r"/(?=(?P<around>[^/]+)/(?:src/|python/)?(?P<package>\w+)/.)")


@lru_cache(maxsize=10_000)
def library_file(file: str) -> str | None:
    """Return the file of a well-known package or of Python itself without the folders around it; None for other files.

    A file with a relative path is Python's own where this Python has it: tracers leave out the folder of Python's modules.
    """
    path = file.replace("\\", "/").removeprefix(f"{Path(__file__).parents[2].as_posix()}/")
    if installed := re.match(r".*/(?:site|dist)-packages/(.+)", f"/{path}"):
        return installed[1] if _is_known(installed[1]) else None
    if own := re.match(r".*/lib/python\d[\d.]*/(.+)", f"/{path}"):
        return own[1]
    if path.startswith(("/", "~")) or path[1:2] == ":":
        found = [one for one in _CHECKOUT.finditer(path) if one["package"] in _PACKAGES and _is_checkout(one)]
        return path[found[-1].start("package") :] if found else None
    if ".." in path.split("/"):
        return None
    return path if _is_known(path) or _is_of_python(path) else None


def _is_known(path: str) -> bool:
    return path.partition("/")[0].removesuffix(".py") in _PACKAGES


def _is_checkout(found: re.Match[str]) -> bool:
    around = found["around"].lower().replace("-", "_")
    return _CHECKOUTS.get(around, around) == found["package"]


def _is_of_python(path: str) -> bool:
    try:
        return (Path(sysconfig.get_path("stdlib")) / path).is_file()
    except (OSError, ValueError):  # a name that is too long for a file, or has a NUL
        return False
