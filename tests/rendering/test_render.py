"""`dcrl render`, end to end: its films and pictures are read back, and show what the policies really do.

The repertoire is one of the point, whose nine elites push it steadily towards nine places.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

import dcrl
from dcrl.cli.main import command
from dcrl.networks.policies import Layers
from dcrl.rendering import film
from dcrl.rendering.camera import offscreen
from dcrl.rendering.drawing import Studio
from dcrl.rendering.motion import record
from dcrl.repertoires.choice import choose, fittest_of_regions
from dcrl.repertoires.save import save, save_actor
from dcrl.tasks import registry
from dcrl.tasks.point import point_omni

COMMAND = Path(sys.executable).with_name("dcrl")
LAYERS = Layers((5, 4, 2))
PUSHES = [(x, y) for y in (-0.6, 0.0, 0.6) for x in (-0.6, 0.0, 0.6)]  # N
SMALL = ("--width", "96", "--height", "64")
FRAMES = 41  # 5 s at 8 a second, and the first


@pytest.fixture(scope="module", autouse=True)
def opengl() -> None:
    try:
        offscreen(mujoco.MjModel.from_xml_string("<mujoco/>"), 8, 8).close()
    except RuntimeError as error:
        pytest.skip(f"nothing can be drawn here, so `dcrl render` is NOT tested: {error}")


def steady(push: tuple[float, float]) -> np.ndarray:
    """The policy that always pushes so."""
    genotype = np.zeros(LAYERS.parameters, np.float32)
    genotype[-2:] = np.arctanh(push)
    return genotype


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten cells, the last of them empty; the elites' promises are from the start state of seed 0."""
    genotypes = np.stack([*map(steady, PUSHES), np.zeros(LAYERS.parameters, np.float32)])
    played = dcrl.rollout("point_omni", genotypes, 0, hidden=(4,))
    there = np.arange(10) < 9
    repertoire = dcrl.Repertoire(
        task="point_omni",
        layers=LAYERS,
        space=point_omni.descriptor,
        centroids=np.concatenate([played.descriptor[:9], [[3, 3]]]).astype(np.float32),
        occupied=there,
        fitness=np.where(there, played.fitness, np.nan).astype(np.float32),
        descriptor=np.where(there[:, None], played.descriptor, np.nan).astype(np.float32),
        genotype=genotypes,
    )
    path = tmp_path_factory.mktemp("run")
    save(path / "archive.safetensors", repertoire)
    actor = np.random.default_rng(0).normal(0, 0.5, Layers((7, 4, 2)).parameters)
    save_actor(path / "actor.safetensors", actor, {"task": "point_omni", "layers": (7, 4, 2)})
    return path


def rendered(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict:
    assert command(["render", *map(str, arguments), "--json"]) == 0, capsys.readouterr().err
    told: dict = json.loads(capsys.readouterr().out)
    return told


def decoded(path: Path, width: int, height: int) -> tuple[NDArray[np.uint8], str]:
    """A film's pictures (n, height, width, 3), and what ffmpeg says about it."""
    import imageio_ffmpeg

    read = [imageio_ffmpeg.get_ffmpeg_exe(), "-i", path, "-fps_mode", "passthrough"]
    done = subprocess.run([*read, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], capture_output=True, check=True)
    return np.frombuffer(done.stdout, np.uint8).reshape(-1, height, width, 3), done.stderr.decode()


def red(picture: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Where the point is seen."""
    return picture[..., 0] > 1.7 * np.maximum(picture[..., 1], picture[..., 2])


def yellow(picture: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Where its way is seen."""
    return np.minimum(picture[..., 0], picture[..., 1]) > picture[..., 2] + 30.0


def test_a_film_shows_the_nearest_elite_from_its_start_to_its_end(run, tmp_path, capsys):
    output = tmp_path / "walk.mp4"
    told = rendered(capsys, run, "--descriptor", "1.9,-2.2", "--output", output, *SMALL, "--plain", "--fps", 8)
    assert (told["cell"], told["policy"], told["steps"]) == (2, "elite", 50)  # pushed along x, against y
    assert told["promised"] == told["achieved"]
    assert told["promised"]["fitness"] == pytest.approx(50 * (1 - 0.25 * 2 * 0.36), rel=1e-5)
    pictures, about = decoded(output, 96, 64)
    assert (len(pictures), told["pictures"], told["fps"]) == (FRAMES, FRAMES, 8)
    assert "h264" in about
    assert "8 fps" in about
    seconds = re.search(r"Duration: 00:00:(\d+\.\d+)", about)
    assert seconds is not None
    assert float(seconds[1]) == pytest.approx(FRAMES / 8, abs=0.03)
    assert pictures.mean() > 50
    assert all(red(picture)[20:44, 38:58].any() for picture in pictures)  # the camera follows it
    assert yellow(pictures[-1]).sum() > yellow(pictures[1]).sum() + 10
    assert np.abs(pictures[20].astype(int) - pictures[21]).max() > 8


def test_a_gif_lasts_as_long_as_its_speed_says(run, tmp_path, capsys):
    output = tmp_path / "walk.gif"
    told = rendered(capsys, run, "--cell", 3, "--output", output, *SMALL, "--speed", 4, "--fps", 30)
    with Image.open(output) as film_:
        lasting = []
        for number in range(film_.n_frames):
            film_.seek(number)
            lasting.append(film_.info["duration"])
        assert (film_.size, film_.info["loop"]) == ((96, 64), 0)
    assert told["fps"] == pytest.approx(100 / 3)  # a GIF counts in hundredths of a second
    assert told["pictures"] == 42  # 1.25 s, and the first
    assert sum(lasting) == pytest.approx(42 * 30, abs=1)
    assert set(lasting) == {30}


def test_a_strip_has_its_moments_side_by_side(run, tmp_path, capsys):
    plain, said = tmp_path / "plain.png", tmp_path / "said.png"
    told = rendered(capsys, run, "--output", plain, "--moments", 3, "--plain")
    assert (told["cell"], told["pictures"], told["fps"]) == (4, 3, None)  # to stand still is the fittest
    rendered(capsys, run, "--output", said, "--moments", 3)
    one, other = (np.asarray(Image.open(path)) for path in (plain, said))
    assert one.shape == other.shape == (300, 3 * 300 + 2 * 4, 3)
    changed = (one != other).any(axis=-1)
    for panel in range(3):
        left = panel * 304
        assert red(one)[130:170, left + 130 : left + 170].any()
        assert changed[200:, left : left + 150].any()
        assert not changed[:200, left : left + 300].any()


def test_the_actor_does_what_its_specialised_policy_does(run, tmp_path, capsys):
    told = rendered(capsys, run, "--actor", "--descriptor", "1,2", "--seed", 4, "--output", tmp_path / "a.png", *SMALL)
    repertoire = dcrl.load(run)
    motion = record("point_omni", repertoire.actor([1, 2]).genotype, 4, hidden=(4,))
    assert (told["policy"], told["cell"], told["promised"]["fitness"]) == ("actor", None, None)
    assert told["achieved"] == {"descriptor": motion.descriptor.tolist(), "fitness": motion.fitness}
    observation = [0.1, 0.2, 0, 0, 1]
    policy = record("point_omni", repertoire.actor([1, 2]).genotype, 4, hidden=(4,)).action[0]
    start = [*(motion.qpos[0] / 3), 0, 0, 1]
    np.testing.assert_allclose(policy, repertoire.actor([1, 2])(start), rtol=1e-5)
    assert (repertoire.actor([1, 2])(observation) != repertoire.actor([2, 2])(observation)).any()


def test_people_are_told_what_was_promised_and_what_came(run, tmp_path, capsys):
    assert command(["render", str(run), "--cell", "2", "--output", str(tmp_path / "a.png"), *SMALL]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("a.png: 6 pictures")
    assert lines[1].split() == ["elite", "cell", "2"]
    assert lines[2].startswith("promised   descriptor 2.")
    assert lines[3].startswith(lines[2].replace("promised", "achieved"))
    assert lines[3].endswith("; ended after 5.00 s (50 steps)")


def test_a_montage_has_a_robot_for_each_region(run, tmp_path, capsys):
    output = tmp_path / "map.png"
    told = rendered(capsys, run, "--montage", "--regions", 3, "--output", output)
    assert told["elites"] == [{"column": c, "row": r, "cell": 3 * r + c} for c in range(3) for r in range(3)]
    picture = np.asarray(Image.open(output))[..., :3]
    right = red(picture)[:, picture.shape[1] // 2 :]
    rows, columns = (np.flatnonzero(right.any(axis=axis)) for axis in (1, 0))
    assert [int((np.diff(places) > 40).sum()) for places in (rows, columns)] == [2, 2]  # three by three of them


def test_the_fittest_of_each_region_is_found(run):
    repertoire = dcrl.load(run)
    assert fittest_of_regions(repertoire, 1) == {(0, 0): 4}
    assert fittest_of_regions(repertoire, 2)[1, 1] in (4, 5, 7, 8)
    assert choose(repertoire).cell == 4
    with pytest.raises(ValueError, match="cell 9 is empty; the nearest elite is in cell 8"):
        choose(repertoire, cell=9)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--output", "a.avi"), "ending in .mp4, .gif, .png, got .avi"),
        (("--output", "there.png"), "there.png exists already; --overwrite replaces it"),
        (("--output", "nowhere/a.png"), "there is no directory nowhere"),
        (("--output", "a.png", "--descriptor", "x,1"), "--descriptor is comma-separated numbers"),
        (("--output", "a.png", "--descriptor", "1"), "is 2 numbers"),
        (("--output", "a.png", "--descriptor", "9,9"), "from (-3.0, -3.0) to (3.0, 3.0), got [9.0, 9.0]"),
        (("--output", "a.png", "--cell", "10"), "a cell is a whole number from 0 to 9, got 10"),
        (("--output", "a.png", "--cell", "1", "--descriptor", "1,1"), "give one of the two"),
        (("--output", "a.png", "--actor"), "conditioned on a descriptor: give a descriptor"),
        (("--output", "a.png", "--seed", "-1"), "a seed is a whole number"),
        (("--output", "a.png", "--moments", "0"), "at least 1 moment"),
        (("--output", "a.gif", "--fps", "0"), "must be above 0"),
        (("--output", "a.gif", "--speed", "inf"), "the speed must be above 0"),
        (("--output", "a.gif", "--seconds", "nan"), "the seconds shown must be above 0"),
        (("--output", "a.mp4", "--width", "97"), "even width and height"),
        (("--output", "a.png", "--width", "5"), "16 to 4096 pixels"),
        (("--output", "a.gif", "--montage"), "must end in .png"),
        (("--output", "a.png", "--montage", "--cell", "1"), "goes without"),
        (("--output", "a.png", "--montage", "--regions", "0"), "1 to 20 regions"),
    ],
)
def test_bad_input_is_one_sentence(run, tmp_path, monkeypatch, capsys, arguments, expected):
    monkeypatch.chdir(tmp_path)
    Path("there.png").touch()
    assert command(["render", str(run), *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("dcrl: ")
    assert said.err.count("\n") == 1
    assert expected in said.err
    assert os.listdir() == ["there.png"]


OWN = """
import dcrl
here = dcrl.Descriptor(names=("x",), unit="m", low=(-2.0,), high=(1.0,), over="last")
task = dcrl.GymnasiumTask(
    name="car", summary="", environment="MountainCarContinuous-v0", descriptor=here, step_descriptor=len
)
"""


def test_an_environment_of_gymnasium_draws_itself(run, tmp_path, capsys):
    (tmp_path / "own.py").write_text(OWN)
    save(tmp_path / "car.safetensors", dataclasses.replace(dcrl.load(run), task=f"{tmp_path}/own.py:task"))
    line = ["render", str(tmp_path / "car.safetensors"), "--output", str(tmp_path / "a.png"), "--trust-task"]
    assert command(line) == 2
    assert "task car is a Gymnasium environment, which draws itself" in capsys.readouterr().err


WITHOUT_FFMPEG = (
    "import sys; sys.modules['imageio_ffmpeg'] = None\n"
    "from dcrl.cli.main import command; sys.exit(command(sys.argv[1:]))"
)


@pytest.mark.parametrize(
    ("start", "variable", "ending", "expected"),
    [
        ([sys.executable, "-c", WITHOUT_FFMPEG], None, "mp4", "an .mp4 needs the package imageio-ffmpeg: pip install"),
        ([COMMAND], "disable", "gif", "this machine cannot render: set the environment variable MUJOCO_GL"),
        ([COMMAND], "unheard-of", "png", "this machine cannot render: set the environment variable MUJOCO_GL"),
    ],
)
def test_what_is_missing_is_named(run, tmp_path, start, variable, ending, expected):
    environment = os.environ if variable is None else os.environ | {"MUJOCO_GL": variable}
    done = subprocess.run(
        [*start, "render", run, "--output", tmp_path / f"a.{ending}"],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"dcrl: {expected}")
    assert done.stderr.count("\n") == 1
    assert os.listdir(tmp_path) == []


HEEDING_INTERRUPTS = (
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
)


def test_an_interrupted_film_leaves_nothing(run, tmp_path):
    output, scratch = tmp_path / "out", tmp_path / "scratch"
    output.mkdir()
    scratch.mkdir()
    arguments = ["render", run, "--output", output / "long.mp4", "--speed", "0.001", *SMALL]
    with subprocess.Popen(
        [sys.executable, "-c", HEEDING_INTERRUPTS, COMMAND, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(scratch)},
    ) as process:
        deadline = time.monotonic() + 120
        while not list(scratch.glob("*/film.mp4")) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        said, error = process.communicate(timeout=60)
    assert (process.returncode, said, error) == (130, "", "dcrl: interrupted\n")
    assert os.listdir(output) == os.listdir(scratch) == []


def test_moments_and_what_lies_between_them():
    motion = record(point_omni, steady((0.6, 0.0)), hidden=(4,))
    np.testing.assert_allclose(film.moments(motion, 5, 1), np.arange(0, 51, 2))
    np.testing.assert_allclose(film.moments(motion, 20, 1), np.arange(0, 50.5, 0.5))
    np.testing.assert_allclose(film.moments(motion, 10, 0.5), np.arange(0, 50.5, 0.5))
    np.testing.assert_allclose(film.moments(motion, 5, 1, 1.2), np.arange(0, 13, 2))
    np.testing.assert_array_equal(film.spread(motion, 3), [0, 25, 50])
    np.testing.assert_array_equal(film.spread(motion, 3, 1.2), [0, 6, 12])
    studio = Studio(registry.BUILT_IN["ant_omni"], 64, 64)
    try:
        one = registry.BUILT_IN["ant_omni"].model.qpos0.copy()
        other = one.copy()
        other[0] += 2
        other[3:7] = [np.cos(0.4), 0, 0, np.sin(0.4)]  # 0.8 rad about the vertical
        half = studio.between(one, other, 0.5)
        np.testing.assert_allclose(half[3:7], [np.cos(0.2), 0, 0, np.sin(0.2)], atol=1e-9)
        assert half[0] == pytest.approx(1)
        away = np.array([[0, 0, 0.75], [2, 1, 0.75]])
        view = studio.view(one[None], away)
        assert view.elevation < -20
        seen, unseen = (studio.picture(one, away[0], view, path) for path in (away, away[:1]))
        assert yellow(seen).sum() > yellow(unseen).sum() + 5
    finally:
        studio.close()


def test_a_planar_robot_is_seen_from_the_side():
    task = registry.BUILT_IN["walker2d_uni"]
    studio = Studio(task, 64, 64)
    try:
        qpos, path = task.model.qpos0, np.array([[0, 0, 1.25]])
        view = studio.view(qpos[None], path)
        assert (view.azimuth, view.trace) == (90, False)
        fallen = qpos.copy()
        fallen[2] = np.pi / 2
        tall, long = ((studio.picture(q, path[0], view, path)) for q in (qpos, fallen))
        changed = (np.abs(tall.astype(int) - long) > 25).any(axis=-1)
        assert changed[:20, 28:36].sum() > 10  # upright before
        assert changed[:, 36:].sum() > 10  # and lying along x after
    finally:
        studio.close()


def test_the_code_of_a_runs_task_is_run_only_if_it_is_trusted(run, tmp_path, capsys):
    task, ran = tmp_path / "task.py", tmp_path / "ran"
    task.write_text(
        f"from pathlib import Path\nPath({str(ran)!r}).touch()\nfrom dcrl.tasks.point import point_omni as task\n"
    )
    own = tmp_path / "own.safetensors"
    save(own, dataclasses.replace(dcrl.load(run), task=f"{task}:task"))
    line = ["render", str(own), "--output", str(tmp_path / "own.png"), "--moments", "1"]
    assert command(line) == 2
    assert "--trust-task" in capsys.readouterr().err
    assert not ran.exists()
    assert command([*line, "--trust-task"]) == 0
    assert ran.exists()
