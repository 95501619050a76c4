"""Kill a run with SIGKILL at random moments, resume it each time, and compare what it found with a run left alone.

Moments are drawn from the start of the process to twice the time that it takes to the first generation here, so they
fall into start-up, training, and the writing of checkpoints, of which every generation makes one.
"""

from __future__ import annotations

import argparse
import csv
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMAND = str(Path(sys.executable).parent / "dcrl")
SHARED = "--cells 64 --cvt-samples 1000 --hidden 16 16 --checkpoint-minutes 0 --refresh-seconds 1e9"
LEARNING = "--critic-steps 20 --critic-hidden 16 16 --policy-steps 5 --replay-size 3000"
FLAGS = {
    "dcrl_me": f"--ga-offspring 8 --pg-offspring 4 --ai-offspring 4 {LEARNING}",
    "qd_pg": f"--ga-offspring 6 --quality-offspring 4 --diversity-offspring 4 --diversity-critic-steps 8 {LEARNING}",
    "me_es": "--es-samples 20 --evaluations-of-centre 4",
}
FILES = ("archive.safetensors", "actor.safetensors", "config.json")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--algorithms", nargs="+", default=list(FLAGS))
    parser.add_argument("--kills", type=int, default=100, help="of each algorithm's run")
    parser.add_argument("--evaluations-per-kill", type=int, default=200, help="the budget, divided by the kills")
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    arguments = parser.parse_args()
    differing = 0
    for name in arguments.algorithms:
        with tempfile.TemporaryDirectory() as directory:
            moments = random.Random(arguments.seed)
            differing += not survives(name, Path(directory), arguments.kills, arguments.evaluations_per_kill, moments)
    return differing


def survives(name: str, directory: Path, kills: int, each: int, moments: random.Random) -> bool:
    """Whether the killed run ended as the other; prints how."""
    budget = f"--evaluations {kills * each}"
    train = f"train point_omni --algorithm {name} {FLAGS[name]} {SHARED} {budget}".split()
    whole, killed = (directory / side / "point_omni" / name / "seed-0" for side in ("whole", "killed"))
    begin = time.monotonic()
    subprocess.run([COMMAND, *train, "--output", str(directory / "whole"), "--quiet"], check=True)
    alone = time.monotonic() - begin
    started = _seconds_to_start([*train, "--output", str(directory / "start")])
    line, deaths, attempts = [*train, "--output", str(directory / "killed")], 0, 0
    while deaths < kills:
        attempts += 1
        if attempts > 2 * kills:
            break  # it is done before it could be killed as often as asked
        deaths += _killed(line, moments.uniform(0, 2 * started))
        if (killed / "config.json").exists():
            line = f"resume {killed} --checkpoint-minutes 0 --refresh-seconds 1e9".split()
    subprocess.run([COMMAND, "resume", str(killed), "--quiet"], check=True, stdout=subprocess.DEVNULL)
    same = _metrics(whole) == _metrics(killed)
    for file in FILES:
        same &= (whole / file).exists() == (killed / file).exists()
        same &= not (whole / file).exists() or (whole / file).read_bytes() == (killed / file).read_bytes()
    print(
        f"{name}: {deaths} kills of a run of {len(_metrics(whole))} generations, "
        f"{'byte-identical' if same else 'DIFFERENT'} "
        f"(alone it took {alone:.0f} s, to start {started:.0f} s; all {time.monotonic() - begin:.0f} s)",
        flush=True,
    )
    return same


def _seconds_to_start(line: list[str]) -> float:
    """Until the first generation is there, with everything compiled before."""
    begin = time.monotonic()
    with subprocess.Popen([COMMAND, *line], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first = next(time.monotonic() for said in process.stdout if said.startswith("generation"))
        process.kill()
    return first - begin


def _killed(line: list[str], seconds: float) -> bool:
    with subprocess.Popen([COMMAND, *line], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            return True
    return False


def _metrics(path: Path) -> list[dict[str, str]]:
    with open(path / "metrics.csv", newline="") as file:
        return [{name: value for name, value in row.items() if name != "wall_seconds"} for row in csv.DictReader(file)]


if __name__ == "__main__":
    sys.exit(main())
