"""A home that cannot be written to, names of any length and script: nothing but the command's own words is printed."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dcrl
from dcrl.figures.maps import archive_map
from support.commands import COMMAND
from support.making import ran, refused
from support.random_runs import save_run

KEPT = ("DCRL_CACHE", "DCRL_STATE", "JAX_COMPILATION_CACHE_DIR", "MPLCONFIGDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")
NO_HOME = {name: value for name, value in os.environ.items() if name not in KEPT} | {"HOME": "/dev/null"}
COMPILE = """
import warnings
warnings.simplefilter("error")
from dcrl import devices
from dcrl.archive.centroids import cache_directory
devices.prepare(cache_directory())
import jax
print(jax.jit(lambda x: x + 1)(1))
"""


def test_compiling_without_a_home_warns_of_nothing():
    line = [sys.executable, "-c", COMPILE]
    done = subprocess.run(line, env=NO_HOME, capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout, done.stderr) == ("2\n", "")


def test_a_figure_without_a_home_prints_nothing_else(tmp_path):
    run = save_run(tmp_path / "run", "point_omni", actor=False)
    line = [COMMAND, "show", run, "--output", tmp_path / "map.png", "--json"]
    done = subprocess.run(line, env=NO_HOME, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "map.png").is_file()


def test_long_and_foreign_names_are_drawn_without_a_warning(tmp_path):
    """Warnings are errors in tests."""
    found = dcrl.load(save_run(tmp_path / "run", "point_omni", actor=False))
    space = dataclasses.replace(found.space, names=("a very long name, " * 20, "日本語"))
    archive_map(found.archive, space, "x" * 100, tmp_path / "map.png")
    assert (tmp_path / "map.png").stat().st_size > 1000


def test_one_of_anything_is_singular(tmp_path, capsys):
    run = save_run(tmp_path / "run", "point_omni", actor=False, cells=2)
    assert ran("evaluate", run, "--repeats", 1) == 0
    said = capsys.readouterr().out
    assert ": 1 elite," in said
    assert "1 episode, about" in said
    assert "1 elites" not in said
    assert ran("regrid", run, "--cells", 1, "--output", tmp_path / "one.safetensors") == 0
    assert "1 elite in 1 cell," in capsys.readouterr().out


def test_names_with_commas_are_told_apart(tmp_path):
    found = dcrl.load(save_run(tmp_path / "run", "point_omni", actor=False))
    own = dataclasses.replace(found, space=dataclasses.replace(found.space, names=("final, x", "final, y")))
    with pytest.raises(ValueError, match=r"\(final, x; final, y\)"):
        own.policy_for([np.nan, 0])


def test_a_port_that_there_is_not_is_a_sentence(capsys):
    assert "port -1: a port is a number from 0 to 65535" in refused(capsys, "explore", Path("nowhere"), "--port", -1)
