"""What settings of `--preset fast` and some other options do alone: the paper's with one changed, one core per run.

    python benchmarks/levers_alone.py --task walker2d_uni --seeds 0 1 2 --output results/fast/alone

Runs that are there already are skipped, so the same command continues. `timed_run.py` does each run; its CPU time is
comparable only between runs of the same machine. Scores are not re-evaluated.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

LEVERS = {
    "paper": "",
    "hidden": "--critic-hidden 128 128",
    "norm": "--critic-norm layer",
    "steps": "--critic-steps 2000",
    "transitions": "--updates-per-transition 0.03125",
    "batch": "--batch-size 64",
    "rates": "--critic-learning-rate 6e-4 --actor-learning-rate 6e-4",
    "policy": "--policy-steps 50",
    "neighbour": "--pg-target neighbour",
    "empty": "--pg-target empty",
    "penalty": "--output-penalty 0.05",
    "lagged": "--overlap lagged",
    "injected": "--injected target",
    "gentle": "--gentle 0.5",
    "fast": "--preset fast",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", default="walker2d_uni")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--evaluations", type=int, default=7680)
    parser.add_argument("--only", nargs="+", choices=LEVERS, default=[*LEVERS], help="run only these settings now")
    parser.add_argument("--cores", type=int, nargs="+", help="numbers of the cores to use; all by default")
    parser.add_argument("--output", type=Path, default=Path("levers_alone"))
    flags = parser.parse_args()
    cores: Queue[int] = Queue()
    found = flags.cores or sorted(os.sched_getaffinity(0))
    for core in found:
        cores.put(core)
    (flags.output / flags.task).mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(len(found)) as pool:
        jobs = [pool.submit(run, flags, name, seed, cores) for seed in flags.seeds for name in flags.only]
        try:
            failed = sum(job.result() != 0 for job in jobs)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    if failed:
        sys.exit(f"{failed} of {len(jobs)} runs failed; their logs are next to the results in {flags.output}")


def run(flags: argparse.Namespace, name: str, seed: int, cores: Queue[int]) -> int:
    """One run on a core that is free, unless its result is there; its exit code."""
    path = flags.output / flags.task / f"{name}-{seed}.json"
    wanted = [flags.task, *shlex.split(LEVERS[name]), "--seed", str(seed), "--evaluations", str(flags.evaluations)]
    if path.exists():
        if json.loads(path.read_text())["flags"] != wanted:
            sys.exit(f"{path} is of other flags than {shlex.join(wanted)!r}; choose another --output")
        return 0
    core = cores.get()
    try:
        line = ["taskset", "-c", str(core), sys.executable, str(Path(__file__).with_name("timed_run.py")), str(path)]
        line += ["--repeats", "0", "--", *wanted]
        print(f"{name}, seed {seed}: {shlex.join(line[3:])}", flush=True)
        with path.with_suffix(".log").open("w") as log:
            code = subprocess.run(line, stdout=log, stderr=subprocess.STDOUT).returncode
        if code == 0:
            path.with_suffix(".log").unlink()
        return code
    finally:
        cores.put(core)


if __name__ == "__main__":
    main()
