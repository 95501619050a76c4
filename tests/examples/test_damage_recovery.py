"""The example of a robot that loses a motor, on the point, for which the answer is known."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt

from support.kills import SHARED

EXAMPLE = Path(__file__).parents[2] / "examples" / "damage_recovery.py"


def test_a_point_without_a_motor_still_finds_a_way(tmp_path):
    command = [str(Path(sys.executable).parent / "dcrl"), "train", "point_omni", "--algorithm", "me"]
    flags = ["--evaluations", "640", "--ga-offspring", "64", "--iso-sigma", "0.2", "--output", str(tmp_path), "--quiet"]
    assert subprocess.run([*command, *flags, *SHARED], check=False, timeout=300).returncode == 0
    line = [sys.executable, str(EXAMPLE), str(tmp_path / "point_omni" / "me" / "seed-0"), "--trials", "5"]
    done = subprocess.run(
        [*line, "--broken", "x", "--output", str(tmp_path / "recovery.png")],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "trial  1" in done.stdout
    # pushing costs the point its fitness whether or not the motor works, so the best elite, which stands still, stays
    numbers = [float(line.split()[-1]) for line in done.stdout.splitlines() if "elite" in line or "after" in line]
    assert len(numbers) == 3
    assert min(numbers) > 45
    assert plt.imread(tmp_path / "recovery.png").shape[1] > 1000
    wrong = subprocess.run([*line, "--broken", "wing"], capture_output=True, text=True, check=False, timeout=300)
    assert "point_omni has no motor 'wing'; it has x, y" in wrong.stderr
