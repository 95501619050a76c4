"""What smaller actions would bring: inject a run's actor with its output layer multiplied by different factors.

    python benchmarks/output_factors.py runs/ant_omni/dcrl_me/seed-0 outputs.csv

The actor and the archive are those of the run's newest checkpoint. For each factor, 128 injected actors are conditioned
on the same uniformly drawn descriptors and simulated from the same starts. `gain` is by how much the archive's QD score
would rise if they were added; the archive does not change.
"""

from __future__ import annotations

import argparse
import csv
import io
from pathlib import Path

from dcrl import files
from dcrl.runs import config as configs
from dcrl.runs.manifest import manifest
from dcrl.variation.actor_injection import ActorInjectionConfig
from offline_training import described, restored

FACTORS = (1, 0.7, 0.5, 0.35, 0.25, 0.15)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("output", type=Path, help="where the rows go, a CSV file")
    parser.add_argument("--threads", type=int, help="threads of the simulator; all cores by default")
    options = parser.parse_args()
    config = configs.read(options.run)
    with configs.open_algorithm(config, options.threads) as algorithm:
        state = restored(options.run, config, algorithm)
        rows = []
        for factor in FACTORS:
            found = described(algorithm, state, ActorInjectionConfig(injected="target"), factor)
            row = {"commit": manifest({})["commit"], "evaluations": state.evaluations, "factor": factor}
            row |= {name: found[name] for name in ("fitness", "reached", "gain")}
            print(*(f"{key} {value}" for key, value in row.items()), flush=True)
            rows.append(row)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    files.write_text(options.output, text.getvalue())


if __name__ == "__main__":
    main()
