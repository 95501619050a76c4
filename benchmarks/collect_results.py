"""Copy what a study found, without its policies, into `results/`, which `dcrl report results` reads.

    python benchmarks/collect_results.py RUNS results

Of each run: `config.json`, `manifest.json` (the command without this machine's directories), `metrics.csv`, a small
picture of the final map, and, where `dcrl evaluate` was run, its totals and per-cell tables. Complete runs only;
the others are listed with how far they got.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path
from typing import Any

from PIL import Image

from dcrl.runs.metrics import budget_used, read_metrics

FILES = ("config.json", "metrics.csv")
EVALUATED = ("totals.json", "elites.csv", "actor.csv")
PICTURE = Path("figures", "archive.png")
WIDTH = 360  # pixels of a map


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("runs", type=Path)
    parser.add_argument("results", type=Path)
    flags = parser.parse_args()
    for config in sorted(flags.runs.glob("*/*/seed-*/config.json")):
        run = config.parent
        name = run.relative_to(flags.runs)
        if not (run / "metrics.csv").exists():
            print(f"not started  {name}")
            continue
        counts, budget = read_metrics(run / "metrics.csv")["evaluations"], json.loads(config.read_text())["evaluations"]
        if not budget_used(counts, budget):
            print(f"incomplete   {name}: {counts[-1]:,.0f} of {budget:,} evaluations")
            continue
        collect(run, flags.results / name)
        print(f"copied       {name}" + ("" if (run / PICTURE).exists() else f", without a map: it has no {PICTURE}"))
    return 0


def collect(run: Path, to: Path) -> None:
    to.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        shutil.copyfile(run / name, to / name)
    (to / "manifest.json").write_text(json.dumps(portable(run), indent=2) + "\n")
    (to / "map.png").unlink(missing_ok=True)
    if (run / PICTURE).exists():
        with Image.open(run / PICTURE) as picture:
            small = picture.convert("RGB").resize((WIDTH, round(picture.height * WIDTH / picture.width)), Image.LANCZOS)
            small.quantize(64).save(to / "map.png", optimize=True)
    for name in EVALUATED:
        if (run / "reproducibility" / name).exists():
            (to / "reproducibility").mkdir(exist_ok=True)
            shutil.copyfile(run / "reproducibility" / name, to / "reproducibility" / name)


def portable(run: Path) -> dict[str, Any]:
    """The manifest without the directories and the name of the machine."""
    manifest: dict[str, Any] = json.loads((run / "manifest.json").read_text())
    _, *arguments = manifest["command"]
    root = str(run.parents[2])
    manifest["command"] = ["dcrl", *("runs" if each == root else each for each in arguments)]
    manifest.pop("host", None)  # runs in `results/` have none
    return manifest


if __name__ == "__main__":
    sys.exit(main())
