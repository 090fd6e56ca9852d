"""Results of msServiceProfiler beside the passes of a server: requests of each pass, blocks of the KV cache, drafted tokens."""

import json
from pathlib import Path
from random import Random

import pytest

from prof_analysis import InputError, open_profile
from prof_analysis.common.benchmark_results import read_requests
from tests.helpers.cli import Command
from tests.helpers.serving import Rank, serve, write, write_service
from tests.helpers.slow import quick

REQUESTS = """http_rid,start_datetime,recv_token_size,reply_token_size,execution_time(ms),queue_wait_time(ms),\
first_token_latency(ms),cache_hit_rate,start_time(ms)
cmpl-0-0,2025-07-02 07:00:36.000123,68,5.0,41.5,0.5,1.5,0.0,1751410836000
cmpl-0-1,2025-07-02 07:00:36.001000,70,,,,2.5,0.0,1751410836001
cmpl-0-2,2025-07-02 07:00:36.002000,70,,,,0,0.0,1751410836002
"""
BLOCKS = """rid,name,start_time,total_blocks,used_blocks,free_blocks,blocks_allocated,blocks_freed,kvcache_usage_rate
,Allocate,2025-07-02 07:00:36.000123,100,25,75,25,0,0.25
,Free,2025-07-02 07:00:36.000223,100,10,90,0,15,0.1
"""
DRAFTS = """rid,iter,prof_id,start_datetime,end_datetime,during_time(ms),spec_tokens,accepted_tokens,accepted_ratio,\
draft_model_time_ms
cmpl-0-0,1,7000,,,1.0,2,2,1.0,0.25
cmpl-0-0,3,7000,,,1.0,2,1,0.5,0.25
"""


@pytest.fixture(scope="module")
def ranks() -> list[Rank]:
    return serve(24)


@pytest.fixture(scope="module")
def served(ranks: list[Rank], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The profile of two ranks that share the load, with the results beside it."""
    folder = tmp_path_factory.mktemp("served")
    for rank in ranks:
        write(rank, folder, "db")
    write_service(ranks, folder)
    for name, content in (("request.csv", REQUESTS), ("kvcache.csv", BLOCKS), ("spec_decode.csv", DRAFTS)):
        (folder / name).write_text(content, encoding="utf-8")
    return folder


def test_each_pass_has_its_requests_where_the_clocks_fit(ranks: list[Rank], served: Path) -> None:
    with open_profile(served, requests=served) as profile:
        rows = profile.rows("FROM across.pass_request")
        assert {row["is_fit"] for row in profile.rows("FROM across.batch_fit")} == {True}
    for rank in ranks:
        found = [[row for row in rows if row["rank_id"] == rank.number and row["pass_id"] == one] for one in range(1, 26)]
        for one, of_pass in zip(rank.passes, found, strict=False):
            held = [(row["request"], row["iteration"], row["phase"], row["token_count"]) for row in of_pass]
            assert held == sorted(one.held)


@pytest.mark.parametrize("shift_ns", quick([3_000_000, -700_000, 10**15], 1))
def test_a_clock_that_does_not_fit_joins_nothing(ranks: list[Rank], served: Path, tmp_path: Path, shift_ns: int) -> None:
    file = write_service(ranks, tmp_path, shift_ns)
    with open_profile(served, requests=file) as profile:
        assert profile.rows("FROM across.pass_request") == []
        assert all(row["reason"] for row in profile.rows("FROM across.batch_fit"))


@pytest.mark.usefixtures("keeping")
def test_results_beside_the_profile_are_found(served: Path, command: Command) -> None:
    text = command("iterations", str(served)).stdout
    assert "requests and batches are those that msServiceProfiler recorded" in text
    assert "of 2 ranks: the clocks fit" in text
    assert "of 4 drafted tokens, 3 were accepted: 75.0%" in text
    assert "of 100 blocks of the KV cache, 10.0% are in use in the median and 25.0% at most, when blocks are taken" in text
    assert "1 request without an answer, left out" in text
    latencies = json.loads(command("iterations", str(served), "--json").stdout)["summary"]["latencies"]
    medians = {row["latency"]: row["median_ns"] for row in latencies}
    assert medians == {"queue": 500_000, "ttft": 1_500_000, "tpot": 10_000_000, "e2el": 41_500_000}


def test_another_file_of_such_a_name_beside_the_profile_is_none(ranks: list[Rank], tmp_path: Path, command: Command) -> None:
    write(ranks[0], tmp_path, "db")
    (tmp_path / "batch.csv").write_text("name,size\nx,1\n", encoding="utf-8")
    (tmp_path / "request.csv").mkdir()
    assert "msServiceProfiler" not in command("iterations", str(tmp_path)).stdout
    with pytest.raises(InputError, match="holds no request"):
        read_requests(tmp_path / "batch.csv")


@pytest.mark.parametrize(("date", "us"), [("36.987654", 654), ("36:987654", 654), ("36.986654", 0), ("", 0)])
def test_moments_are_exact_and_have_the_us_of_their_dates(tmp_path: Path, date: str, us: int) -> None:
    """A float has no 16 digits; a date of another ms is not that of the moment."""
    head = "name,res_list,start_datetime,start_time(ms),during_time(ms)"
    (tmp_path / "batch.csv").write_text(f"{head}\nmodelExec,[],2025-07-02 07:00:{date},1751410836987,0.25\n", encoding="utf-8")
    _, batch = map(json.loads, read_requests(tmp_path))
    start_ns = 1_751_410_836_987_000_000 + us * 1000
    assert (batch["start_ns"], batch["end_ns"]) == (start_ns, start_ns + 250_000)


@pytest.mark.parametrize(
    "content",
    [
        b"name,res_list,start_time(ms),during_time(ms)\nmodelExec,[],1e999999999,1\n",
        b"name,res_list,start_time(ms),during_time(ms)\nmodelExec,[],NaN,-1\nmodelExec,[{'rid': '\n",
        b"name,res_list,start_time(ms),during_time(ms)\n" + b"modelExec," + b"[{" * 100_000 + b",1751410836987,1\n",
        b"name,res_list,start_time(ms)\n" + b'"' * 1001,
    ],
)
def test_damaged_cells_are_unknown(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "batch.csv").write_bytes(content)
    records = [json.loads(record) for record in read_requests(tmp_path)]
    assert all(record["kind"] in ("run", "batch") for record in records)
    assert all(record["requests"] == [] for record in records[1:])


def test_random_bytes_end_in_one_line_that_names_the_file(tmp_path: Path) -> None:
    random = Random(1)
    for _ in range(200):
        good = bytearray(REQUESTS.encode())
        for _ in range(random.randrange(1, 5)):
            good[random.randrange(len(good))] = random.randrange(256)
        (tmp_path / "request.csv").write_bytes(bytes(good))
        try:
            read_requests(tmp_path)
        except InputError as error:
            assert str(tmp_path) in str(error)
            assert "\n" not in str(error)


def test_a_file_that_is_too_large_is_refused_and_beside_a_profile_left_out(
    ranks: list[Rank], tmp_path: Path, command: Command
) -> None:
    write(ranks[0], tmp_path, "db")
    with (tmp_path / "request.csv").open("wb") as file:
        file.write(REQUESTS.encode())
        file.truncate(2**40)
    with pytest.raises(InputError, match="larger than 64 MB"):
        read_requests(tmp_path)
    asked = command("iterations", str(tmp_path))
    assert asked.exit_code == 0
    assert "larger than 64 MB); the passes are shown without it" in asked.stderr
