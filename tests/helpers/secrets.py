"""Profiles with planted secrets: hosts, users, folders, addresses, processes and the user's code, wherever one may be.

MARKS are what no output may hold that was made with --anonymize.
"""

import gzip
import json
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb

from fixtures.text_export import export_text
from tests.helpers import kineto, nsys
from tests.helpers.small_profile import Frame, HostCall, Kernel, Op, Range, edit, write_profile

HOST, USER, PROJECT, PID, THREAD = "zzqhost7", "zzquser", "zzqproject", 987_654, 345_678
ADDRESS, CODE, FUNCTION = "10.77.66.55", "zzqnet", "zzqfunction"
TID, OTHER_TID = PID << 32 | PID, PID << 32 | THREAD
IDENTIFIER, LONG_ADDRESS, CARD = "0badcafe-0011-2233-4455-66778899aabb", "2001:db8:85a3::8a2e:370:7334", "0a:1b:2c:3d:4e:5f"
MARKS = ("zzq", ADDRESS, IDENTIFIER, LONG_ADDRESS, CARD, str(PID), str(THREAD), str(TID), str(OTHER_TID))
# A folder of the user, as it is inside texts.
HOME = f"/home/{USER}/{PROJECT}"
GROUP = f"{ADDRESS}%enp189s0f0_60000_0_1738000000000000"
TEXTS = {
    "path": f"read {HOME}/data set/zzq.bin now",
    "windows": rf"C:\Users\{USER}\zzq\x.txt",
    "link": f"https://{HOST}.example.com/zzq?a=1",
    "mail": f"{USER}@zzq.example.com",
    "host": f"worker on {HOST}: pid={PID}",
    "address": f"to {ADDRESS}:29500 and fe80::1:2:3%zq0",
    "code": f"compiled {CODE}.py",
    "user and folder of a link": f"scp://{USER}:zzqword@{HOST}/data",
    "host of a link": "init tcp://zzqmaster:29500 now",
    "host alone": "wait for zzqmaster to come",
    "share": r"\\zzqserver\zzqshare\x.bin",
    "host of a share": "mounted from zzqserver twice",
    "sender": "mailed zzqwriter@zzqfirm.example.org",
    "sender alone": "made by zzqwriter today",
    "token": "login hf_zzqAbCdEfGhIjKlMnOpQr",
    "credential": "api_key=zzqcredential, tries=1500",
    "identifier": f"volume {IDENTIFIER} is here",
    "long address": f"join {LONG_ADDRESS} now",
    "address of a card": f"card {CARD}",
    "file link": f"file://{HOME}/zzq.bin",
    "below a home": "~zzqother/data/zzq.bin",
}
STACK = (
    "/usr/local/lib/python3.11/site-packages/torch/nn/modules/module.py(1501): _call_impl",
    f"{HOME}/{CODE}.py(12): {FUNCTION}",
    f"{PROJECT}/{CODE}_train.py(7): forward",
    "<string>(2): zzqgenerated",
    "<zzqmade>(3): zzqgenerated",
    "<string>(4): __init__",
    "/usr/lib/python3.11/threading.py(980): run",
)


def folder_name(rank: int) -> str:
    return f"{HOST}_{PID + rank}_20260101000000000_ascend_pt"


def write_secret(folder: Path, rank: int = 0, slower: int = 0) -> Path:
    """Write a rank of a database; texts with secrets name an op, a kernel, a mark and a range each. Return its folder."""
    ops, ranges, calls = [], [Range("Net", 100, 9000, TID)], []
    for number, text in enumerate(TEXTS.values()):
        at = 200 + number * 300
        kernel = Kernel(text, at + 100, at + 200 + slower, type=f"Type{number}", stream=number)
        send = Kernel("hcom_allReduce_", at + 200, at + 250 + rank, "communication", group=GROUP)
        ops += [Op(text, at, at + 50, (kernel, send), TID), Op("aten::mul", at + 60, at + 80, (), OTHER_TID)]
        ranges += [Range(text, at + 5, at + 45, TID, domain="Custom"), Range(text, at + 6, at + 6, TID, "Custom", 0)]
        ranges.append(Range("Linear", at - 5, at + 55, TID))
        calls.append(HostCall(text, at + 10, at + 20, TID))
    frames = [Frame(frame, 150 + depth, 8000 - depth, TID) for depth, frame in enumerate(STACK[::-1])]
    steps = [(1, 90, 1500), (2, 1500, 9500)]
    result = folder / folder_name(rank)
    path = write_profile(result, ops, ranges, steps=steps, rank=rank, frames=frames, calls=calls)
    groups = {GROUP: {"group_name": "zzqcustomer_dp", "group_rank": rank, "global_ranks": [0, 1]}}
    rows = {"parallel_group_info": groups, "distributed_args": {"world_size": 2, "master": HOST}}
    rows["ENV_VARIABLES"] = dict.fromkeys(("HF_TOKEN", "MASTER_ADDR", "HCCL_ALGO", "CPU_AFFINITY_CONF"), f"zzq {HOST}")
    rows["zzqjob"] = {"command": f"python {HOME}/zzq.py --token zzq", "job": "zzq-4711", "serial": "zzqserial"}
    values = "".join(f"INSERT INTO META_DATA VALUES ('{name}', '{json.dumps(value)}');" for name, value in rows.items())
    edit(
        path,
        f"CREATE TABLE HOST_INFO (hostUid TEXT, hostName TEXT); INSERT INTO HOST_INFO VALUES ('{HOST}uid', '{HOST}');"
        f"CREATE TABLE META_DATA (name TEXT, value TEXT); {values}",
    )
    (result / f"profiler_info_{rank}.json").write_text(json.dumps({"rank_id": rank, "path": HOME}), encoding="utf-8")
    return result


def write_secret_trace(folder: Path) -> Path:
    """Write a GPU trace with the same secrets, and more around the events; return the file."""
    events = []
    for number, text in enumerate(TEXTS.values(), 1):
        at = number * 1000
        events += [
            kineto.event("python_function", STACK[1], at, at + 500, TID & 0xFFFF, PID),
            kineto.event("python_function", "nn.Module: Linear_0", at + 5, at + 495, TID & 0xFFFF, PID),
            kineto.event(
                "cpu_op", text, at + 10, at + 90, TID & 0xFFFF, PID, {"External id": number, "Call stack": ";".join(STACK)}
            ),
            kineto.event(
                "cuda_runtime", text, at + 20, at + 30, TID & 0xFFFF, PID, {"correlation": number, "External id": number}
            ),
            kineto.kernel(text, at + 50, at + 150, number),
            kineto.event(
                "cuda_runtime",
                "cudaLaunchKernel",
                at + 35,
                at + 40,
                TID & 0xFFFF,
                PID,
                {"correlation": 100 + number, "External id": number},
            ),
            kineto.kernel(
                "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
                at + 160,
                at + 190,
                100 + number,
                9,
                arguments={
                    "Collective name": "allreduce",
                    "In msg nelems": 8,
                    "Out msg nelems": 8,
                    "Group size": 2,
                    "dtype": "BFloat16",
                    "Process Group Name": "7",
                    "Process Group Description": "zzqcustomer_dp",
                    "Process Group Ranks": "[0, 1]",
                },
            ),
            kineto.event("user_annotation", text, at + 2, at + 498, TID & 0xFFFF, PID),
        ]
    head = {
        **kineto.HEAD,
        "host_name": HOST,
        "trace_id": "zzq",
        "distributedInfo": {
            "rank": 0,
            "world_size": 2,
            "pg_config": [GROUP, {"pg_name": "7", "pg_desc": "zzqcustomer_dp", "backend_config": "zzq", "ranks": [0, 1]}],
        },
    }
    return kineto.write_trace(
        folder / f"{HOST}_{PID}.1700000000000000000.pt.trace.json", events, head, {"traceName": f"{HOME}/zzq"}
    )


def write_secret_nsys(folder: Path) -> Path:
    """Write a database of Nsight Systems with the same secrets, and more around the events; return the file."""
    text, kernels, calls, events = nsys.Texts(), [], [], []
    for number, name in enumerate(TEXTS.values(), 1):
        at = number * 1000
        events += [
            nsys.nvtx("nn.Module: Linear_0", at + 5, at + 495, PID & 0xFFFFFF, THREAD & 0xFFFFFF),
            nsys.nvtx(f"{name}, op_id = {number}", at + 10, at + 90, PID & 0xFFFFFF, THREAD & 0xFFFFFF),
            nsys.nvtx(name, at + 2, at + 498, PID & 0xFFFFFF, THREAD & 0xFFFFFF),
            nsys.nvtx(name, at + 3, None, PID & 0xFFFFFF, THREAD & 0xFFFFFF, kind=34),
        ]
        calls.append(nsys.call(text(name), at + 20, at + 30, number, PID & 0xFFFFFF, THREAD & 0xFFFFFF))
        kernels.append(nsys.kernel(text(name), at + 50, at + 150, number, PID & 0xFFFFFF))
    pid = nsys.global_id(PID & 0xFFFFFF)
    tables: dict[str, list[nsys.Row]] = {
        nsys.KERNELS: kernels, nsys.CALLS: calls, nsys.RANGES: events,
        "PROCESSES": [{"globalPid": pid, "pid": PID, "name": f"{HOME}/zzqpython"}],
        "ThreadNames": [{"nameId": text("zzqthread"), "priority": 0, "globalTid": pid | THREAD}],
        "TARGET_INFO_SYSTEM_ENV": [{"devStateName": "Local", "name": "Hostname", "value": HOST}],
        "META_DATA_CAPTURE": [
            {"name": "PROCESS_0:ENVIRONMENT_VARIABLE", "value": 'HF_TOKEN="hf_zzqAbCdEfGhIjKlMnOpQr"'},
            {"name": "PROCESS_0:ARGUMENT_1", "value": f"{HOME}/zzq.py"},
        ],
    }  # fmt: skip
    return nsys.write_tables(folder / f"{HOST}_{PID}.sqlite", tables, text)


def write_secret_text(folder: Path, rank: int = 0) -> Path:
    """Write the same rank as a text export; return its folder."""
    result = write_secret(folder, rank)
    (database,) = result.rglob("ascend_pytorch_profiler_*.db")
    export_text(database)
    database.unlink()
    return result


def write_secret_log(file: Path) -> Path:
    """Write a log of vLLM-Ascend with the process and the address in each line."""
    line = f"(IntegratedWorker pid={PID}, ip={ADDRESS}) INFO Profile execute duration [Decode]: [prepare]:1.25ms [post]:0.5ms\n"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(line * 3, encoding="utf-8")
    return file


def leaks(text: str) -> list[str]:
    """Return the secrets in a text, each with what is around it."""
    places = ((mark, text.find(mark)) for mark in MARKS)
    return [f"{mark}: {text[max(0, place - 40) : place + 60]!r}" for mark, place in places if place >= 0]


def contents(file: Path) -> Iterator[str]:
    """Yield all that a file holds, as text: its name and bytes, and what is inside of it unpacked."""
    yield file.name
    if file.suffix == ".xlsx":
        with zipfile.ZipFile(file) as archive:
            yield from (archive.read(name).decode() for name in archive.namelist())
        return
    content = file.read_bytes()
    yield (gzip.decompress(content) if file.suffix == ".gz" else content).decode("latin-1")
    if file.suffix == ".db":
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
            yield "\n".join(map(str, database.iterdump()))
    elif file.suffix == ".parquet":
        yield str(duckdb.execute(f"FROM '{file}'").fetchall())
    elif file.suffix == ".duckdb":
        with duckdb.connect(str(file), read_only=True) as database:
            for (name,) in database.execute("SELECT table_name FROM duckdb_tables()").fetchall():
                yield str(database.execute(f'FROM "{name}"').fetchall())
