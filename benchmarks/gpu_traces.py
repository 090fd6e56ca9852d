"""The command: `python -m benchmarks.gpu_traces --hta PYTHON` times GPU traces and HolisticTraceAnalysis in the same rounds.

The traces are those of simulated ranks, or the files of `--traces`. The bare read of their bytes runs beside. PYTHON is the
interpreter of an environment of its own with HolisticTraceAnalysis, which needs other versions than this project.
"""

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from benchmarks.jobs import BARE, OURS, Job, bare_read, our_job
from benchmarks.measure import cost_of, in_turn, ratio_of, typical
from fixtures.generate import generate, kernels_per_step
from fixtures.kineto_export import export_kineto
from fixtures.shape import Shape

HTA = "HolisticTraceAnalysis"
# The same question as that of kernel-stats; reading takes nearly all of its time.
QUESTION = """
import sys
from hta.trace_analysis import TraceAnalysis
trace = TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir="")
trace.get_gpu_kernel_breakdown(visualize=False)
"""


def make_trace(folder: Path, kernels: int) -> Path:
    """Write the trace of a simulated training rank with so many kernels."""
    shape = Shape(task_queue=False, schedule_kernels=False, nn_module_ranges="instead", gradient_hooks=True)
    steps = max(1, kernels // kernels_per_step(shape))
    generate(folder / "npu", Shape(**{**vars(shape), "steps": steps}), ranks=1)
    (db,) = (folder / "npu").rglob("ascend_pytorch_profiler_*.db")
    return export_kineto(db, folder / "gpu" / "rank0.json", 0, 1)


def measure(trace: Path, hta: Path | None, runs: int) -> None:
    """Run the jobs on a trace in turn, and print what each costs."""
    megabytes = trace.stat().st_size / 10**6
    jobs: dict[str, Job] = {
        OURS: our_job(("kernel-stats", "--cache", "none"), trace, None),
        f"{OURS} module-stats": our_job(("module-stats", "--cache", "none"), trace, None),
        BARE: bare_read(trace),
    }
    if hta:
        jobs[HTA] = lambda: cost_of([str(hta), "-c", QUESTION, str(trace)], Path(gettempdir()))
    costs = in_turn(jobs, runs)
    for name, of_job in costs.items():
        cost, ratio = typical(of_job), ratio_of(of_job, costs[OURS])
        of_cpu = ratio_of(of_job, costs[OURS], lambda one: one.cpu_s)
        sys.stdout.write(
            f"{trace.name}, {megabytes:,.0f} MB: {name}: {cost.wall_s:.2f} s, {cost.cpu_s:.2f} s of CPU, "
            f"{cost.peak_bytes / 10**6:,.0f} MB of memory, {megabytes / cost.wall_s:,.0f} MB/s, x {ratio}, of CPU x {of_cpu}\n"
        )


def main() -> None:
    """Print wall and CPU time, memory, MB of JSON a second, and the ratio to prof-analysis in the same round."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu_traces", description=__doc__)
    parser.add_argument("--kernels", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--traces", type=Path, nargs="+", metavar="FILE", help="these traces in place of simulated ones")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--hta", type=Path, help="the Python of an environment with HolisticTraceAnalysis")
    words = parser.parse_args()
    for trace in words.traces or ():
        measure(trace.absolute(), words.hta, words.runs)
    for kernels in () if words.traces else words.kernels:
        with TemporaryDirectory() as folder:
            measure(make_trace(Path(folder), kernels), words.hta, words.runs)


if __name__ == "__main__":
    main()
