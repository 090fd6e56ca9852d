"""Latencies of a benchmark's requests beside the passes of the server: what its files hold, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from prof_analysis import InputError, open_profile
from tests.helpers.cli import Command
from tests.helpers.serving import serve, write

# As `vllm bench serve --save-result --save-detailed` and SGLang's bench_serving with --output-details write them, in seconds.
RESULT: dict[str, Any] = {
    "ttfts": [0.25, 0.5, 0.0],
    "itls": [[0.01, 0.03], [0.02], []],
    "input_lens": [10, 20, 5],
    "output_lens": [3, 2, 0],
    "errors": ["", "", "Connection reset"],
    "start_times": [71.5, 71.6, 71.7],
    "generated_texts": ["a b c", "d e", ""],
    "mean_ttft_ms": 375.0,
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The profile of a server."""
    folder = tmp_path_factory.mktemp("served")
    for rank in serve(24, ranks=1):
        write(rank, folder, "db")
    return folder


def result_in(folder: Path, content: object) -> Path:
    file = folder / "benchmark.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return file


def test_latencies_stand_beside_passes_and_their_parts_add_up(served: Path, tmp_path: Path, command: Command) -> None:
    asked = command("iterations", str(served), "--requests", str(result_in(tmp_path, RESULT)), "--json")
    assert asked.exit_code == 0
    summary = json.loads(asked.stdout)["summary"]
    latencies = {row["latency"]: row for row in summary["latencies"]}
    assert {name: (row["value_count"], row["median_ns"], row["max_ns"]) for name, row in latencies.items()} == {
        "ttft": (2, 250_000_000, 500_000_000),
        "itl": (3, 20_000_000, 30_000_000),
        "tpot": (2, 20_000_000, 20_000_000),
        "e2el": (2, 290_000_000, 520_000_000),
    }
    with open_profile(served) as profile:
        decode = profile.rows("SELECT cycle_ns FROM pass.time WHERE is_steady AND phase = 'decode' ORDER BY 1")
    # The nearest rank: the smallest that at least half do not exceed.
    assert latencies["tpot"]["pass_median_ns"] == decode[(len(decode) - 1) // 2]["cycle_ns"]
    assert latencies["tpot"]["pass_count"] == len(decode) > 0
    for latency in ("ttft", "itl", "tpot"):
        parts = [row["duration_ns"] for row in summary["latency_parts"] if row["latency"] == latency]
        assert sum(parts) == latencies[latency]["median_ns"]


def test_the_answer_says_what_is_left_out_and_that_clocks_differ(served: Path, tmp_path: Path, command: Command) -> None:
    text = command("iterations", str(served), "--requests", str(result_in(tmp_path, RESULT))).stdout
    assert "1 request without an answer, left out" in text
    assert "benchmarks do not record by the clock of the profile" in text


def test_of_several_runs_in_a_file_the_last_one_counts(served: Path, tmp_path: Path, command: Command) -> None:
    lines = json.dumps({**RESULT, "ttfts": [9.0, 9.0, 9.0]}) + "\n" + json.dumps(RESULT) + "\n"
    text = command("iterations", str(served), "--requests", str(result_in(tmp_path, lines))).stdout
    assert "holds 2 runs of the benchmark, of which the last one counts" in text
    assert "250.00 ms" in text
    assert "9.00 s" not in text


def test_a_result_without_single_requests_gives_the_reported_figures(served: Path, tmp_path: Path, command: Command) -> None:
    file = result_in(tmp_path, {"median_tpot_ms": 24.5, "p99_tpot_ms": 90, "completed": 7})
    text = command("iterations", str(served), "--requests", str(file)).stdout
    assert "24.50 ms" in text
    assert "--save-detailed" in text


def test_the_tables_are_written_and_a_result_may_be_given_as_it_was_read(served: Path, tmp_path: Path) -> None:
    with open_profile(served, requests=RESULT) as profile:
        assert profile.rows("SELECT tpot_ns, e2el_ns FROM across.request") == [
            {"tpot_ns": 20_000_000, "e2el_ns": 290_000_000},
            {"tpot_ns": 20_000_000, "e2el_ns": 520_000_000},
        ]
        files = profile.export(tmp_path, "csv", "iterations", ("requests",))
        (database,) = profile.export(tmp_path, "db", "iterations", ("requests",))
    assert {"request.csv", "request_latency.csv", "request_part.csv"} <= {file.name for file in files}
    # A result may hold millions of records: where the options of a table are named, a digest stands for them.
    assert b"sha256" in database.read_bytes()
    assert b'kind\\":\\"request' not in database.read_bytes()


def test_without_a_result_nothing_is_said_of_requests(served: Path, command: Command) -> None:
    asked = command("iterations", str(served), "--json")
    assert "latencies" not in json.loads(asked.stdout)["summary"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is no JSON"),
        ("{", "is no JSON"),
        ("[" * 100_000, "is no JSON"),
        ('{"a": 1}\n{"b"', "is no JSON"),
        ("9" * 5000, "is no JSON"),
        ([1, 2], "holds no result"),
        ({"ttfts": "fast"}, "ttfts is no list"),
        ({"completed": 3}, "has no ttfts"),
        ({"ttfts": []}, "has no ttfts"),
        ({"ttfts": ["0.1"]}, "ttfts[0] is no time"),
        ({"ttfts": [True]}, "ttfts[0] is no time"),
        ({"ttfts": [-1]}, "ttfts[0] is no time"),
        ({"ttfts": [1e300]}, "ttfts[0] is no time"),
        ('{"ttfts": [NaN]}', "ttfts[0] is no time"),
        ('{"ttfts": [1e999]}', "ttfts[0] is no time"),
        ({"ttfts": [1], "itls": [3]}, "itls[0] is no list"),
        ({"ttfts": [1], "itls": [[None]]}, "itls[0] is no time"),
        ({"ttfts": [1, 2], "itls": [[]]}, "has 2 ttfts and 1 itls"),
        ({"ttfts": [1], "output_lens": ["3"]}, "output_lens[0] is no number"),
        ({"ttfts": [1], "output_lens": [2.5]}, "output_lens[0] is no number"),
        ({"ttfts": [1], "output_lens": [10**30]}, "output_lens[0] is no number"),
        ({"median_ttft_ms": "12"}, "median_ttft_ms is no time"),
        ({"median_ttft_ms": 1, "failed": "many"}, "failed is no number"),
    ],
)
def test_what_is_no_result_is_one_line_that_names_the_file(tmp_path: Path, content: object, words: str) -> None:
    file = result_in(tmp_path, content)
    with pytest.raises(InputError) as error:
        open_profile(tmp_path, requests=file)
    assert str(error.value).startswith(f"{file}: ")
    assert words in str(error.value)
    assert "\n" not in str(error.value)
    assert error.value.path == file


def test_a_file_that_cannot_be_read_whole_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        open_profile(tmp_path, requests=tmp_path / "missing.json")
    with pytest.raises(InputError, match="holds no request"):
        open_profile(tmp_path, requests=tmp_path)
    huge = tmp_path / "huge.json"
    with huge.open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(InputError, match="larger than 64 MB"):
        open_profile(tmp_path, requests=huge)
    huge.write_bytes(b"\xff\xfe{")
    with pytest.raises(InputError, match="is no JSON"):
        open_profile(tmp_path, requests=huge)
