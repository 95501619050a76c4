"""`dcrl render` of robots: its videos and pictures are read back, and show what the policies do."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from PIL import Image

import dcrl
from dcrl.cli.main import command
from dcrl.rendering.motion import record
from dcrl.repertoires.choice import choose, fittest_of_regions
from support.pictures import decoded, red, yellow

pytestmark = pytest.mark.usefixtures("opengl")

SMALL = ("--width", "96", "--height", "64")
FRAMES = 41  # 5 s at 8 fps, and the first


def rendered(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict:
    assert command(["render", *map(str, arguments), "--json"]) == 0, capsys.readouterr().err
    printed: dict = json.loads(capsys.readouterr().out)
    return printed


def test_a_video_shows_the_nearest_elite_from_start_to_end(run, tmp_path, capsys):
    output = tmp_path / "walk.mp4"
    printed = rendered(capsys, run, "--descriptor", "1.9,-2.2", "--output", output, *SMALL, "--plain", "--fps", 8)
    assert (printed["cell"], printed["policy"], printed["steps"]) == (2, "elite", 50)  # pushed to +x and -y
    assert printed["stored"] == printed["achieved"]
    assert printed["stored"]["fitness"] == pytest.approx(50 * (1 - 0.25 * 2 * 0.36), rel=1e-5)
    frames, about = decoded(output, 96, 64)
    assert (len(frames), printed["frames"], printed["fps"]) == (FRAMES, FRAMES, 8)
    assert "h264" in about
    assert "8 fps" in about
    seconds = re.search(r"Duration: 00:00:(\d+\.\d+)", about)
    assert seconds is not None
    assert float(seconds[1]) == pytest.approx(FRAMES / 8, abs=0.03)
    assert frames.mean() > 50
    assert all(red(frame)[20:44, 38:58].any() for frame in frames)  # the camera follows the point
    assert yellow(frames[-1]).sum() > yellow(frames[1]).sum() + 10
    assert np.abs(frames[20].astype(int) - frames[21]).max() > 8


def test_the_length_of_a_gif_follows_from_its_playback_speed(run, tmp_path, capsys):
    output = tmp_path / "walk.gif"
    printed = rendered(capsys, run, "--cell", 3, "--output", output, *SMALL, "--speed", 4, "--fps", 30)
    with Image.open(output) as gif:
        durations = []
        for number in range(gif.n_frames):
            gif.seek(number)
            durations.append(gif.info["duration"])
        assert (gif.size, gif.info["loop"]) == ((96, 64), 0)
    assert printed["fps"] == pytest.approx(100 / 3)  # a GIF counts in hundredths of a second
    assert printed["frames"] == 42  # 1.25 s, and the first
    assert sum(durations) == pytest.approx(42 * 30, abs=1)
    assert set(durations) == {30}


def test_a_strip_has_its_pictures_side_by_side(run, tmp_path, capsys):
    plain, captioned = tmp_path / "plain.png", tmp_path / "captioned.png"
    printed = rendered(capsys, run, "--output", plain, "--moments", 3, "--plain")
    assert (printed["cell"], printed["frames"], printed["fps"]) == (4, 3, None)  # standing still is the fittest
    rendered(capsys, run, "--output", captioned, "--moments", 3)
    one, other = (np.asarray(Image.open(path)) for path in (plain, captioned))
    assert one.shape == other.shape == (300, 3 * 300 + 2 * 4, 3)
    changed = (one != other).any(axis=-1)
    for left in (0, 304, 608):
        assert red(one)[130:170, left + 130 : left + 170].any()
        assert changed[200:, left : left + 150].any()
        assert not changed[:200, left : left + 300].any()


def test_the_actor_acts_as_its_conditioned_policy(run, tmp_path, capsys):
    line = (run, "--actor", "--descriptor", "1,2", "--seed", 4, "--moments", 1, "--output", tmp_path / "a.png", *SMALL)
    printed = rendered(capsys, *line)
    repertoire = dcrl.load(run)
    motion = record("point_omni", repertoire.actor([1, 2]).genotype, 4, hidden=(4,))
    assert (printed["policy"], printed["cell"], printed["stored"]["fitness"]) == ("actor", None, None)
    assert printed["achieved"] == {"descriptor": motion.descriptor.tolist(), "fitness": motion.fitness}
    start = [*(motion.qpos[0] / 3), 0, 0, 1]
    np.testing.assert_allclose(motion.action[0], repertoire.actor([1, 2])(start), rtol=1e-5)
    assert (repertoire.actor([1, 2])(start) != repertoire.actor([2, 2])(start)).any()


def test_the_text_compares_what_is_stored_with_what_was_achieved(run, tmp_path, capsys):
    line = ["render", str(run), "--cell", "2", "--moments", "2", "--output", str(tmp_path / "a.png"), *SMALL]
    assert command(line) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("a.png: 2 pictures")
    assert lines[1].split() == ["elite", "cell", "2"]
    assert lines[2].startswith("stored     descriptor 2.")
    assert lines[3].startswith(lines[2].replace("stored  ", "achieved"))
    assert lines[3].endswith("; truncated after 5.00 s (50 steps)")


def test_a_montage_has_a_picture_for_each_region(run, tmp_path, capsys):
    output = tmp_path / "map.png"
    printed = rendered(capsys, run, "--montage", "--regions", 3, "--output", output)
    assert printed["elites"] == [{"column": c, "row": r, "cell": 3 * r + c} for c in range(3) for r in range(3)]
    picture = np.asarray(Image.open(output))[..., :3]
    right = red(picture)[:, picture.shape[1] // 2 :]
    rows, columns = (np.flatnonzero(right.any(axis=axis)) for axis in (1, 0))
    assert [int((np.diff(places) > 40).sum()) for places in (rows, columns)] == [2, 2]  # three by three of them


def test_the_fittest_elite_of_each_region(run):
    repertoire = dcrl.load(run)
    assert fittest_of_regions(repertoire, 1) == {(0, 0): 4}
    assert fittest_of_regions(repertoire, 2)[1, 1] in (4, 5, 7, 8)
    assert choose(repertoire).cell == 4
    with pytest.raises(ValueError, match="cell 9 is empty; the nearest elite is in cell 8"):
        choose(repertoire, cell=9)
