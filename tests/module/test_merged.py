"""The table behind the statistic is written for speed; here is the same written plainly, and both agree."""

from pathlib import Path

import pytest

from fixtures.generate import generate
from fixtures.shape import Shape
from prof_analysis import open_profile
from tests.helpers.slow import quick

PLAIN = """
    WITH launch AS (
        SELECT
            call.instance_id,
            path_id,
            op_id,
            list(CASE kind WHEN 'communication' THEN type ELSE name END ORDER BY kind, start_ns, kernel_id) AS kernels,
            sum(duration_ns)::BIGINT AS duration_ns
        FROM module.kernel
        JOIN module.call USING (interval_id)
        GROUP BY call.instance_id, path_id, op_id
    ),
    placed AS (
        SELECT
            launch.*,
            op.name,
            op.start_ns,
            row_number() OVER (PARTITION BY instance_id ORDER BY op.start_ns, op.end_ns DESC, op_id) AS op_order
        FROM launch
        JOIN trace.op USING (op_id)
    ),
    sequence AS (
        SELECT instance_id, list(name ORDER BY op_order) AS ops
        FROM placed
        GROUP BY instance_id
    )
    SELECT
        path_id,
        duration_ns: sum(duration_ns)::BIGINT,
        op_count: count(*),
        first_op_id: arg_min(op_id, (start_ns, op_id))
    FROM placed
    JOIN sequence USING (instance_id)
    GROUP BY path_id, name, op_order, kernels, ops
    ORDER BY ALL
"""


@pytest.mark.parametrize("mode", quick(["training", "inference"], 1))
def test_rows_are_merged_as_when_lists_are_compared(tmp_path: Path, mode: str) -> None:
    shape = Shape(mode=mode, relaunch=True, gradient_hooks=mode == "training", overlapping_ranges=True)  # type: ignore[arg-type]
    generate(tmp_path, shape, ranks=1)
    with open_profile(tmp_path) as profile:
        plain = profile.sql(PLAIN, arrow=True)
        merged = profile.sql(
            "SELECT path_id, duration_ns, op_count, first_op_id FROM module.statistic_row ORDER BY ALL", arrow=True
        )
    assert merged.num_rows > 10
    assert (
        merged.to_pylist() == plain.drop_columns(["profile", "rank_id"] if "profile" in plain.column_names else []).to_pylist()
    )
