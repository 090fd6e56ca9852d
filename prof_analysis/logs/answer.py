"""The answer of `stage-durations`: the stages over all processes and of each process, and the number of other lines."""

from typing import Any

from prof_analysis.analyses.answer import Answer, said, table_of
from prof_analysis.analyses.words import several
from prof_analysis.common import frames
from prof_analysis.logs.vllm_stages import StageLogs

_COLUMNS = {
    "stage": "stage",
    "phase": "phase",
    "count": "duration_count",
    **{name: f"{name}_ns" for name in ("mean", "p50", "p95", "p99", "max")},
    "last / first tenth": "last_to_first",
    "host rest": "host_rest_mean_ns",
}


def stage_durations(logs: StageLogs, top: int) -> Answer:
    """Return the stages over all processes, the first stages of single processes, and the number of lines in the logs."""

    def rows(query: str) -> list[dict[str, Any]]:
        return frames.rows(logs.connection.sql(query))

    (total,) = rows("FROM vllm.total")
    stages = rows(f"FROM vllm.across_processes LIMIT {top:d}")
    of_processes = rows(f"FROM vllm.statistic LIMIT {top:d}")
    line = (
        f"{several(total['announcements'], 'announcement')} of {several(total['processes'], 'process', 'es')} in "
        f"{several(total['lines'], 'line')} of {several(total['logs'], 'log')}; "
        f"other lines, which are skipped: {total['other_lines']:,}"
    )
    return Answer(
        "stage-durations",
        {**total, "stages": stages, "stages_of_processes": of_processes},
        (
            table_of("vllm.across_processes", stages, _COLUMNS),
            said(line),
            table_of("vllm.statistic", of_processes, {"process": "process", **_COLUMNS}),
        ),
        tuple(logs.warnings),
        tuple(logs.failures),
    )
