"""`dcrl render` of Gymnasium environments, which render themselves; none of it needs OpenGL."""

from __future__ import annotations

import dataclasses
import itertools
import json
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from PIL import Image

import dcrl
from dcrl.cli.main import command
from dcrl.networks.policies import Layers
from dcrl.repertoires.save import save
from support import square
from support.pictures import decoded, red

PUSHES = np.array([-0.5, 0.0, 0.9])


def stored(path: Path, environment: str, dimensions: int = 1) -> Path:
    """A repertoire of three elites that push the square; its task is in a file next to it."""
    names = ("x", "y")[:dimensions]
    (path / "own.py").write_text(
        "import dataclasses, dcrl, numpy as np\nfrom support import square\n"
        f"space = dataclasses.replace(square.task.descriptor, names={names}, low={(-1.0,) * dimensions}, "
        f"high={(1.0,) * dimensions})\n"
        "task = dataclasses.replace(square.task, "
        f"environment={environment!r}, descriptor=space, step_descriptor=dcrl.from_info(*{('x',) * dimensions}))\n"
    )
    genotypes = np.stack([square.pushing(push) for push in PUSHES])
    played = dcrl.rollout(square.task, genotypes, hidden=())
    descriptor = np.repeat(played.descriptor, dimensions, axis=1)
    space = dataclasses.replace(square.task.descriptor, names=names, low=(-1.0,) * dimensions, high=(1.0,) * dimensions)
    repertoire = dcrl.Repertoire(
        task=f"{path}/own.py:task",
        layers=Layers((1, 1)),
        space=space,
        centroids=descriptor,
        occupied=np.ones(3, bool),
        fitness=played.fitness,
        descriptor=descriptor,
        genotype=genotypes,
    )
    save(path / "own.safetensors", repertoire)
    return path / "own.safetensors"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return stored(tmp_path, "tests/Square-v0")


def rendered(capsys: pytest.CaptureFixture[str], run: Path, *arguments: object) -> dict:
    assert command(["render", str(run), *map(str, arguments), "--trust-task", "--json"]) == 0, capsys.readouterr().err
    printed: dict = json.loads(capsys.readouterr().out)
    return printed


def test_a_video_has_a_frame_per_step_at_the_environments_rate(run, tmp_path, capsys):
    output = tmp_path / "a.mp4"
    printed = rendered(capsys, run, "--cell", 2, "--fps", square.FPS, "--plain", "--output", output)
    assert printed["task"] == "square"
    assert printed["stored"] == printed["achieved"]
    assert printed["terminated"]
    frames, about = decoded(output, square.WIDTH, square.HEIGHT)
    assert len(frames) == printed["frames"] == printed["steps"] + 1
    assert f"{square.FPS} fps" in about
    middles = [np.flatnonzero(red(frame).any(axis=0)).mean() for frame in frames]
    assert all(0.5 < after - before < 4 for before, after in itertools.pairwise(middles[:-2]))


def test_slow_motion_repeats_frames(run, tmp_path, capsys):
    output = tmp_path / "a.gif"
    line = ("--cell", 0, "--fps", square.FPS, "--speed", 0.5, "--seconds", 0.6, "--output", output)
    printed = rendered(capsys, run, *line)
    assert printed["frames"] == 13  # 1.2 s, and the first
    assert printed["steps"] == square.STEPS


def test_a_strip_goes_from_the_first_state_to_the_last(run, tmp_path, capsys):
    output = tmp_path / "a.png"
    rendered(capsys, run, "--cell", 0, "--moments", 3, "--plain", "--width", 80, "--height", 48, "--output", output)
    picture = np.asarray(Image.open(output))
    assert picture.shape == (48, 3 * 80 + 2 * 4, 3)
    middles = [np.flatnonzero(red(picture[:, left : left + 80]).any(axis=0)).mean() for left in (0, 84, 168)]
    assert middles == sorted(middles, reverse=True)
    assert middles[0] == pytest.approx(40, abs=6)
    assert middles[2] < middles[0] - 15


def test_a_montage_shows_the_states_that_were_reached(tmp_path, capsys):
    output = tmp_path / "map.png"
    run = stored(tmp_path, "tests/Square-v0", dimensions=2)
    printed = rendered(capsys, run, "--montage", "--regions", 3, "--output", output)
    assert [elite["cell"] for elite in printed["elites"]] == [0, 1, 2]
    assert red(np.asarray(Image.open(output))[..., :3]).any()


def test_an_environment_that_cannot_render_is_refused(tmp_path, capsys):
    run = stored(tmp_path, "tests/Unseen-v0")
    assert command(["render", str(run), "--output", str(tmp_path / "a.png"), "--trust-task"]) == 2
    error = capsys.readouterr().err
    assert "task square: tests/Unseen-v0 cannot be rendered: a picture needs the render mode 'rgb_array'" in error
    assert error.count("\n") == 1
    assert not (tmp_path / "a.png").exists()


class Shorter(square.Square):
    """Every episode is shorter than the one before, whatever the seed."""

    episodes = itertools.count()

    def reset(self, **options):
        self._left = 10 - 2 * next(self.episodes)
        return super().reset(**options)

    def step(self, action):
        self._left -= 1
        observation, reward, _, _, info = super().step(action)
        return observation, reward, self._left <= 0, False, info


def test_an_environment_that_is_not_deterministic_is_refused(tmp_path, capsys):
    gymnasium.register("tests/Shorter-v0", entry_point=Shorter, max_episode_steps=square.STEPS)
    run = stored(tmp_path, "tests/Shorter-v0")
    assert command(["render", str(run), "--output", str(tmp_path / "a.png"), "--trust-task"]) == 2
    assert "tests/Shorter-v0 must be deterministic for a given seed" in capsys.readouterr().err
    assert not (tmp_path / "a.png").exists()
