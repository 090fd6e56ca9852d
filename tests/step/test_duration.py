"""How long the job takes for a step: what the device idles between two steps counts for the later one."""

from pathlib import Path

from prof_analysis import open_profile

COLUMNS = "step_id, duration_ns, computing_ns, uncovered_ns, idle_ns"


def test_where_it_is_not_known_when_a_step_began_it_is_as_long_as_its_kernels(tmp_path: Path) -> None:
    (tmp_path / "kernel_details.csv").write_text(
        "Step Id,Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim\n"
        "3,0,a,MatMulV2,AI_CORE,10.000,5.000,0,20\n"
        "3,0,b,Add,AI_VECTOR_CORE,20.000,5.000,0,20\n"
        "4,0,a,MatMulV2,AI_CORE,100.000,7.000,0,20\n"
    )
    with open_profile(tmp_path) as profile:
        rows = profile.rows(f"SELECT {COLUMNS} FROM step.duration")
    assert [tuple(row.values()) for row in rows] == [(3, 15000, 10000, 0, 5000), (4, 7000, 7000, 0, 0)]
