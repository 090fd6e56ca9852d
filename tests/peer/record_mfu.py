"""Writes what two versions of msprof-analyze say of the MFU of a made-up profile to mfu_of_msprof_analyze.json.

    python -m tests.peer.record_mfu MSPROF_ANALYZE_8_3_0 MSPROF_ANALYZE_26_2_0

Both are paths of the command `msprof-analyze`, each in an environment of its own.
"""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.helpers.small_profile import Kernel, Matmul, Op, Range, edit, write_chip, write_profile

RECORDED = Path(__file__).with_name("mfu_of_msprof_analyze.json")
START_NS = 1_700_000_000_000_000_000

_ATTENTION_TYPES = "DT_BF16;DT_BF16;DT_BF16;DT_BF16;UINT8;DT_BF16;BOOL;INT64;INT64;INT64;INT64;INT64"


def _matmul(name: str, inputs: str, output: str, types: str = "DT_BF16;DT_BF16", **about: Any) -> Kernel:
    return Matmul(name, 0, 300_000, inputs=inputs, outputs=output, types=types, **about)


def _attention(name: str, q: str, k: str, v: str, output: str, statistics: str, mask: str = "2048,2048") -> Kernel:
    return Matmul(
        name,
        0,
        900_000,
        type="FlashAttentionScore",
        core="MIX_AIC",
        inputs=f"{q};{k};{v};;;;{mask};;;;;;",
        types=_ATTENTION_TYPES,
        outputs=f"{statistics};{statistics};;{output}",
        formats=";".join(["ND"] * 12),
        output_formats="ND;ND;ND;ND",
    )


_NZ = "FRACTAL_NZ;FRACTAL_NZ"
_SQUARE = "1,32,4096,128"
_TND = "4096,32,128"
_TRANSFORM = Matmul("transform", 0, 50_000, type="TransData", core="AI_VECTOR_CORE", inputs="64,64", outputs="64,64")

# Kernels of an op, the arguments in the mark before it, and the FLOPs recorded around it.
_CALLS: list[tuple[tuple[Kernel, ...], dict[str, Any] | None, str | None]] = [
    ((_matmul("mm", "4096,4096;4096,4096", "4096,4096"),), None, "137438953472-mm"),
    ((_matmul("mm transposed", "1000,4096;1000,512", "4096,512"),), None, None),
    ((_matmul("mm float", "1024,4096;4096,512", "1024,512", "FLOAT;FLOAT", hf32="NO"),), None, None),
    ((_matmul("mm int8", "1024,4096;4096,512", "1024,512", "INT8;INT8"),), None, None),
    ((_matmul("mm int32", "1024,4096;4096,512", "1024,512", "INT32;INT32"),), None, None),
    ((_matmul("mm nz", "16,64,16,16;32,16,16,16", "32,64,16,16", formats=_NZ, output_formats=_NZ),), None, None),
    ((_matmul("bmm", "8,1024,128;8,128,1024", "8,1024,1024", type="BatchMatMulV2"),), None, None),
    ((_TRANSFORM, _matmul("mm beside", "1024,4096;4096,512", "1024,512")), None, "4294967296-matmul"),
    (
        (_attention("dense", _SQUARE, _SQUARE, _SQUARE, _SQUARE, "1,32,4096,8", ""),),
        {"input_layout": "BNSD", "sparse_mode": 0},
        None,
    ),
    (
        (_attention("causal", _SQUARE, _SQUARE, _SQUARE, _SQUARE, "1,32,4096,8"),),
        {"input_layout": "BNSD", "sparse_mode": 2},
        None,
    ),
    (
        (_attention("causal, more queries", "1,32,8192,128", _SQUARE, _SQUARE, "1,32,8192,128", "1,32,8192,8"),),
        {"input_layout": "BNSD", "sparse_mode": 2},
        None,
    ),
    (
        (_attention("causal, more keys", _SQUARE, "1,32,8192,128", "1,32,8192,128", _SQUARE, "1,32,4096,8"),),
        {"input_layout": "BNSD", "sparse_mode": 3},
        None,
    ),
    (
        (_attention("shared keys", "4096,1,4096", "4096,1,1024", "4096,1,1024", "4096,1,4096", "1,32,4096,8", ""),),
        {"input_layout": "SBH", "sparse_mode": 0},
        None,
    ),
    (
        (_attention("value dim", "1,4096,32,192", "1,4096,32,192", "1,4096,32,128", "1,4096,32,128", "1,32,4096,8", ""),),
        {"input_layout": "BSND", "sparse_mode": 0},
        None,
    ),
    (
        (_attention("ragged causal", _TND, _TND, _TND, _TND, "4096,32,8"),),
        {"input_layout": "TND", "sparse_mode": 2, "actual_seq_qlen": [2048, 4096], "actual_seq_kvlen": [2048, 4096]},
        None,
    ),
    (
        (_attention("negative length", _TND, _TND, _TND, _TND, "4096,32,8"),),
        {
            "input_layout": "TND",
            "sparse_mode": 0,
            "actual_seq_qlen": [3000, 2000, 4096],
            "actual_seq_kvlen": [3000, 2000, 4096],
        },
        None,
    ),
]


def write_mfu_profile(folder: Path) -> None:
    """A module Net whose ops launch the kernels one after the other; inside one recorded range another thread launches too."""
    ops, ranges = [], [Range("Net", START_NS - 1000, START_NS + 1_000_000)]
    device_ns = START_NS + 10_000_000
    for number, (kernels, arguments, recorded) in enumerate(_CALLS):
        start = START_NS + 10_000 * number
        timed = []
        for kernel in kernels:
            timed.append(replace(kernel, start=device_ns, end=device_ns + kernel.end))
            device_ns += 1_000_000
        ops.append(Op("npu::op", start + 1000, start + 5000, tuple(timed)))
        if arguments is not None:
            ranges.append(Range(json.dumps(arguments), start + 100, start + 100, domain="flash_attn_args", event_type=0))
        if recorded is not None:
            ranges.append(Range(recorded, start + 500, start + 9000, domain="mfu_flops"))
    other = replace(_matmul("mm of another thread", "64,64;64,64", "64,64"), start=device_ns, end=device_ns + 10_000)
    ops.append(Op("npu::op", START_NS + 6000, START_NS + 7000, (other,), tid=2))
    database = write_profile(folder, ops, ranges)
    write_chip(folder)
    edit(database, "CREATE TABLE ENUM_MSTX_EVENT_TYPE (id INTEGER PRIMARY KEY, name TEXT);")
    for number, name in enumerate(("marker", "push/pop", "start/end", "marker_ex")):
        edit(database, f"INSERT INTO ENUM_MSTX_EVENT_TYPE VALUES ({number}, '{name}');")


def write_int64_profile(folder: Path) -> None:
    """A recorded range around a kernel of a data type that a cube does not multiply."""
    kernel = replace(_matmul("mm int64", "64,64;64,64", "64,64", "INT64;INT64"), start=START_NS + 10_000, end=START_NS + 20_000)
    known = replace(_matmul("mm", "64,64;64,64", "64,64"), start=START_NS + 30_000, end=START_NS + 40_000)
    ops = [Op("npu::op", START_NS + 10, START_NS + 20, (kernel,)), Op("npu::op", START_NS + 50, START_NS + 60, (known,))]
    ranges = [Range("524288-mm", START_NS + start, START_NS + start + 25, domain="mfu_flops") for start in (5, 45)]
    write_profile(folder, ops, [*ranges, Range("Net", START_NS, START_NS + 100)])
    write_chip(folder)


def _run(command: str, mode: str, profiles: Path, output: Path, query: str) -> list[Any]:
    for file in [profiles, *profiles.rglob("*")]:
        file.chmod(0o750 if file.is_dir() else 0o640)
    output.mkdir(mode=0o750)
    words = [command, "-m", mode, "-d", str(profiles), "-o", str(output), "--export_type", "db"]
    subprocess.run(words, check=True, capture_output=True, env={**os.environ, "PYTHONWARNINGS": "ignore"})
    written = output / "cluster_analysis_output" / "cluster_analysis.db"
    if not written.exists():
        return []
    with closing(sqlite3.connect(written)) as database:
        return database.execute(query).fetchall()


def main() -> None:
    """Write both profiles, run both commands, and keep what they wrote."""
    old, new = sys.argv[1:]
    kernels = "SELECT kernel_name, mfu FROM OperatorMFU"
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o750)
        write_mfu_profile(folder / "mfu" / "host_1_20260101000000000_ascend_pt")
        write_int64_profile(folder / "int64" / "host_1_20260101000000000_ascend_pt")
        modules = _run(
            old, "module_statistic", folder / "mfu", folder / "old", "SELECT kernelList, avgMFU FROM ModuleStatistic"
        )
        recorded = {
            "8.3.0": dict(modules),
            "26.2.0": _run(new, "operator_mfu", folder / "mfu", folder / "new", kernels),
            "26.2.0, int64": _run(new, "operator_mfu", folder / "int64", folder / "int64_out", kernels),
        }
    RECORDED.write_text(json.dumps(recorded, indent=4) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
