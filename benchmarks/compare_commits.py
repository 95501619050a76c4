"""Whether two commits find the same: archives and metrics of the same runs, byte by byte.

    python benchmarks/compare_commits.py be6ad60 HEAD
    python benchmarks/compare_commits.py be6ad60 HEAD --only point_omni/me walker2d_uni/dcrl_me

Each commit is checked out into a temporary worktree, and its runs are made with the Python that runs this script: only
the sources differ. Compared are the tensors of `archive.safetensors` and `actor.safetensors`, and the columns of
`metrics.csv` without the wall time. What the later commit adds to a file is listed and is no difference.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from safetensors.numpy import load_file

ROOT = Path(__file__).parents[1]
ALGORITHMS = ("dcrl_me", "dcg_me", "pga_me", "qd_pg", "me_es", "me", "ablation_ai", "ablation_actor")
RUNS = [
    *(("point_omni", algorithm, 2_560) for algorithm in ALGORITHMS),
    *(("walker2d_uni", algorithm, 1_536) for algorithm in ("dcrl_me", "qd_pg", "me_es")),
]
TENSORS = ("archive.safetensors", "actor.safetensors")
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("before", help="a commit")
    parser.add_argument("after", nargs="?", default="HEAD", help="another one")
    parser.add_argument("--keep", type=Path, help="where the runs are kept and reused")
    known = {f"{task}/{algorithm}": (task, algorithm, evaluations) for task, algorithm, evaluations in RUNS}
    parser.add_argument("--only", nargs="+", choices=known, metavar="TASK/ALGORITHM", help="such as point_omni/me")
    flags = parser.parse_args()
    for commit in (flags.before, flags.after):
        if subprocess.run(
            ["git", "-C", ROOT, "rev-parse", "-q", "--verify", f"{commit}^{{commit}}"], **QUIET
        ).returncode:
            parser.error(f"there is no commit {commit!r} in this repository")
    runs = [known[name] for name in flags.only or known]
    with tempfile.TemporaryDirectory() as scratch:
        output = flags.keep or Path(scratch)
        before, after = (made(commit, output, runs) for commit in (flags.before, flags.after))
        different = [line for run in runs for line in compare(run, before, after)]
    print(f"runs: {len(runs)}, differences: {len(different)}")
    return 1 if different else 0


def made(commit: str, output: Path, each: list[tuple[str, str, int]]) -> Path:
    """The runs of a commit; those that are there already are not made again."""
    name = git("rev-parse", "--short", commit)
    runs = output / name
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch) / "tree"
        git("worktree", "add", "--detach", str(tree), name)
        try:
            for task, algorithm, evaluations in each:
                if not (runs / task / algorithm / "complete").exists():
                    train(tree, runs, task, algorithm, evaluations)
        finally:
            git("worktree", "remove", "--force", str(tree))
    return runs


def train(tree: Path, runs: Path, task: str, algorithm: str, evaluations: int) -> None:
    line = [sys.executable, "-P", "-m", "dcrl", "train", task, "--algorithm", algorithm, "--quiet", "--overwrite"]
    line += ["--evaluations", str(evaluations), "--output", str(runs)]
    print(f"{runs.name}: {' '.join(line[4:])}", flush=True)
    subprocess.run(line, check=True, env=os.environ | {"PYTHONPATH": str(tree / "src")})
    (runs / task / algorithm / "complete").touch()


def compare(run: tuple[str, str, int], before: Path, after: Path) -> Iterator[str]:
    """What differs in one run; says so, or that nothing does."""
    task, algorithm, evaluations = run
    one, two = (runs / task / algorithm / "seed-0" for runs in (before, after))
    found, added = [], []
    for name in TENSORS:
        if (one / name).exists() != (two / name).exists():
            found.append(f"{name} exists only once")
        elif (one / name).exists():
            a, b = load_file(one / name), load_file(two / name)
            found += [f"{name}: {part}" for part in sorted(a) if not same(a, b, part)]
            added += sorted(b.keys() - a.keys())
    rows, later = metrics(one), metrics(two)
    found += [f"metrics.csv: {name}" for name in differing_columns(rows, later)]
    added += [name for name in later[0] if name not in rows[0]]
    note = f" (added: {', '.join(added)})" if added else ""
    print(f"{task:13} {algorithm:15} {evaluations:6,} evaluations: {'; '.join(found) or 'identical'}{note}", flush=True)
    yield from found


def same(a: dict, b: dict, part: str) -> bool:
    if part not in b or a[part].dtype != b[part].dtype or a[part].shape != b[part].shape:
        return False
    return a[part].tobytes() == b[part].tobytes()


def metrics(run: Path) -> list[dict[str, str]]:
    with open(run / "metrics.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    return [{name: value for name, value in row.items() if name != "wall_seconds"} for row in rows]


def differing_columns(one: list[dict[str, str]], two: list[dict[str, str]]) -> list[str]:
    """The later commit may add columns, but not change or remove one."""
    if len(one) != len(two):
        return ["the number of generations"]
    return [
        name for name in one[0] if name not in two[0] or any(a[name] != b[name] for a, b in zip(one, two, strict=True))
    ]


def git(*arguments: str) -> str:
    line = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
