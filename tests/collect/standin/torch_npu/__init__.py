"""As much of torch_npu as prof_analysis.collect calls; what it was called with goes to `calls`, in order.

Signatures: Ascend/pytorch at 9e73e708, torch_npu/npu/mstx.py and torch_npu/profiler/{profiler,experimental_config}.py; and
npu_fusion_attention of Ascend/op-plugin.
"""

from typing import Any

from . import npu, profiler
from .npu import calls

__version__ = "26.2.0"
__all__ = ["calls", "npu", "profiler"]


def npu_fusion_attention(
    query: Any,
    key: Any,
    value: Any,
    head_num: int,
    input_layout: str,
    pse: Any = None,
    padding_mask: Any = None,
    atten_mask: Any = None,
    scale: float = 1.0,
    keep_prob: float = 1.0,
    pre_tockens: int = 2147483647,
    next_tockens: int = 2147483647,
    inner_precise: int = 0,
    prefix: Any = None,
    actual_seq_qlen: Any = None,
    actual_seq_kvlen: Any = None,
    sparse_mode: int = 0,
) -> str:
    calls.append(("npu_fusion_attention", input_layout, sparse_mode))
    return "attention"
