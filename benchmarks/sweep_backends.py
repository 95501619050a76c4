"""The throughput of a sweep: one run per core against one run at a time on all cores, and Ray against local.

    python benchmarks/sweep_backends.py                                       # the paper's settings, on an idle machine
    python benchmarks/sweep_backends.py --task point_omni --evaluations 1024 --repeats 1

The ways take turns, so that a change of the machine's speed meets all of them. Each sweep trains as many runs as there
are cores, from the start; Ray's own start-up is part of its time.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from dcrl.devices import cores

WAYS = {
    "local, one run per core": (),
    "local, one run on all cores": ("--at-once", "1"),
    "ray, one run per core": ("--backend", "ray"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", default="walker2d_uni")
    parser.add_argument("--algorithm", default="dcrl_me")
    parser.add_argument("--evaluations", type=int, default=2560)
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    count = cores()
    seconds: dict[str, list[float]] = {way: [] for way in WAYS}
    for repeat in range(asked.repeats):
        for way, flags in WAYS.items():
            output = Path(tempfile.mkdtemp())
            begin = time.perf_counter()
            subprocess.run(
                [
                    *(sys.executable, "-P", "-m", "dcrl", "sweep", asked.task, "--algorithms", asked.algorithm),
                    *("--seeds", f"0-{count - 1}", "--evaluations", str(asked.evaluations), "--output", str(output)),
                    *flags,
                ],
                check=True,
                stdout=subprocess.DEVNULL,
            )
            seconds[way].append(time.perf_counter() - begin)
            shutil.rmtree(output)
            print(f"{repeat + 1}: {way:<30} {seconds[way][-1]:8.1f} s", flush=True)
    reference = median(seconds["local, one run per core"])
    print(f"\n{count} runs of {asked.algorithm} on {asked.task}, {asked.evaluations:,} evaluations each, {count} cores")
    for way, some in seconds.items():
        rate = count * asked.evaluations / median(some)
        print(f"{way:<30} {rate:8.1f} evaluations/s   {reference / median(some):5.2f} of local, one run per core")


if __name__ == "__main__":
    main()
