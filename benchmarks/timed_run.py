"""One training run against the clock: QD score over wall and processor time, its archives re-evaluated on the way.

    python benchmarks/timed_run.py out.json --seconds 300 --threshold 500000 -- walker2d_uni --preset fast --seed 3

What follows `--` are the flags of `dcrl train`. The clock counts generations alone: not compilation (one generation is
run and thrown away first), not re-evaluations, and nothing is written but the result. A run ends when its budget of
evaluations or seconds is used up, or once it is past the last mark and above the threshold.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dcrl import devices, files
from dcrl.algorithms.algorithm import Algorithm
from dcrl.algorithms.state import Report
from dcrl.archive.archive import Archive
from dcrl.archive.centroids import cache_directory
from dcrl.bench.generations import product_gflops
from dcrl.cli import train
from dcrl.evaluation import repeats
from dcrl.evaluation.reproducibility import measure
from dcrl.repertoires.repertoire import Repertoire
from dcrl.runs import config as configs
from dcrl.runs.config import RunConfig
from dcrl.runs.manifest import manifest
from dcrl.runs.training import iterate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path, help="where the result goes, a JSON file")
    parser.add_argument("--seconds", type=float, help="at most so many seconds; no limit by default")
    parser.add_argument("--threshold", type=float, help="the QD score that the run should reach")
    parser.add_argument("--marks", type=float, nargs="*", default=[], help="seconds at which archives are re-evaluated")
    parser.add_argument("--repeats", type=int, default=16, help="fresh episodes per elite; 0 for no re-evaluation")
    own, flags = sys.argv[1:], []
    if "--" in own:
        own, flags = own[: own.index("--")], own[own.index("--") + 1 :]
    options = parser.parse_args(own)
    devices.prepare(cache_directory())
    config = train.config_of(train.parse(flags))
    with configs.open_algorithm(config) as algorithm:
        found = TimedRun(config, algorithm, options).run()
    files.write_json(options.output, {"flags": flags, "machine": machine()} | found)


class TimedRun:
    """A run with its clocks; they stand still while archives are re-evaluated."""

    def __init__(self, config: RunConfig, algorithm: Algorithm, options: argparse.Namespace) -> None:
        self.config, self.algorithm, self.options = config, algorithm, options
        self.rows: list[dict[str, Any]] = []
        self.archives: list[dict[str, Any]] = []  # the re-evaluated ones
        self.marks = sorted(options.marks)
        self.reached: float | None = None

    def run(self) -> dict[str, Any]:
        state, _ = self.algorithm.start(self.config.seed)
        self.algorithm.advance(state, self.config.seed)  # compiles
        product = product_gflops(size=1024)
        wall = processor = 0.0
        before: Archive | None = None
        generations = iterate(self.algorithm, self.config.evaluations, self.config.seed)
        while not self.is_over(wall):
            begun = time.perf_counter(), time.process_time()
            state, report = next(generations, (None, None))
            if state is None:
                break
            wall, processor = wall + time.perf_counter() - begun[0], processor + time.process_time() - begun[1]
            self.note(report, wall, processor)
            while self.marks and self.marks[0] < wall:
                self.evaluate(before, f"at {self.marks.pop(0):g} s")
            threshold = self.options.threshold
            if threshold is not None and self.reached is None and report.qd_score >= threshold:
                self.reached = wall
                self.evaluate(state.archive, "at the threshold")
            before = state.archive
        if self.reached is None:
            self.evaluate(before, "at the end")
        return {
            "configuration": configs.to_json(self.config),
            "matrix_product_gflops": product,
            "threshold": self.options.threshold,
            "seconds_to_threshold": self.reached,
            "rows": self.rows,
            "archives": self.archives,
        }

    def is_over(self, wall: float) -> bool:
        limit, threshold = self.options.seconds, self.options.threshold
        if limit is not None and wall >= limit:
            return True
        return threshold is not None and self.reached is not None and not self.marks

    def note(self, report: Report, wall: float, processor: float) -> None:
        row = asdict(report) | {"wall_seconds": wall, "processor_seconds": processor}
        self.rows.append(row)
        print(
            f"generation {report.generation}  evaluations {report.evaluations:,}  {wall:.1f} s  "
            f"processor {processor:.1f} s  QD score {report.qd_score:,.0f}  coverage {report.coverage:.1%}",
            flush=True,
        )

    def evaluate(self, archive: Archive | None, when: str) -> None:
        """Re-evaluate an archive, in episodes from fresh starts."""
        if not self.options.repeats or archive is None:
            return
        row = next(row for row in self.rows[::-1] if row["qd_score"] == archive.qd_score)
        repertoire = self.repertoire(archive)
        played = repeats.unplayed(repertoire, self.options.repeats, actor=False)
        for now in repeats.play(repertoire, played, self.algorithm.setting.simulator):
            played = now
        totals = measure(played).elites_totals
        found = {"when": when, "generation": row["generation"], "wall_seconds": row["wall_seconds"]}
        self.archives.append(found | {"qd_score": archive.qd_score} | asdict(totals))
        print(
            f"{when}: QD score {archive.qd_score:,.0f} stored, {totals.expected_qd_score:,.0f} expected, "
            f"{totals.corrected_qd_score:,.0f} corrected",
            flush=True,
        )

    def repertoire(self, archive: Archive) -> Repertoire:
        setting = self.algorithm.setting
        return Repertoire(
            task=self.config.task,
            layers=setting.layers,
            space=setting.descriptor,
            centroids=archive.centroids,
            occupied=archive.occupied,
            fitness=archive.fitness,
            descriptor=archive.descriptor,
            genotype=archive.genotype,
        )


def machine() -> dict[str, Any]:
    """What ran it, without the machine's name and directories."""
    words = (Path(word).name if Path(word).is_absolute() else word for word in sys.argv[1:])
    about = manifest() | {"command": ["benchmarks/timed_run.py", *words]}
    del about["host"]
    return {"load": os.getloadavg(), **about}


if __name__ == "__main__":
    main()
