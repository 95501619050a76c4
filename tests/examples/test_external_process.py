"""The example of ask and tell: another program plays the episodes, and the repertoire holds what it observed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dcrl

EXAMPLE = Path(__file__).parents[2] / "examples" / "external_process.py"


@pytest.mark.slow
def test_another_program_plays_the_episodes(tmp_path):
    code = f"import sys; sys.path.insert(0, {str(EXAMPLE.parent)!r}); import external_process; "
    line = [sys.executable, "-c", code + f"external_process.train({str(tmp_path)!r}, evaluations=128)"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=600, check=True)
    assert [row.split(":")[0] for row in done.stdout.splitlines()] == ["generation 0", "generation 1"]
    found = dcrl.load(tmp_path / "cart" / "dcrl_me" / "seed-0")
    cell = int(np.flatnonzero(found.occupied)[0])
    asked = json.dumps({"genotypes": [found.genotype[cell].tolist()], "seeds": [0]})
    played = subprocess.run(
        [sys.executable, EXAMPLE, "play"], input=asked, capture_output=True, text=True, timeout=60, check=True
    )
    (episode,) = json.loads(played.stdout)
    assert sum(episode["rewards"]) == pytest.approx(float(found.fitness[cell]), abs=2.0)
    np.testing.assert_allclose(episode["observations"][-1], found.descriptor[cell], atol=0.5)
