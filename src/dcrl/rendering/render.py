"""A policy of a run as a video, a strip of pictures, or a montage of many policies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from dcrl.files import free, write_bytes
from dcrl.rendering import encoding, video
from dcrl.rendering.episodes import Outcome, Size, open_player
from dcrl.rendering.montage import montage as draw_montage
from dcrl.rendering.video import Picture
from dcrl.repertoires.choice import choose, fittest_of_regions
from dcrl.repertoires.load import load
from dcrl.repertoires.policy import Policy
from dcrl.repertoires.trust import usable_task
from dcrl.tasks import registry

Watch: TypeAlias = Callable[[int, int], None]  # called with the number of pictures drawn, and of how many

SIZES = {".mp4": (640, 480), ".gif": (400, 300), ".png": (300, 300)}  # default width and height
TILE = 220  # pixels, the side of a montage's pictures


@dataclass(frozen=True, kw_only=True)
class Rendered:
    """What was drawn, to compare with what the repertoire stores of the policy."""

    output: Path
    task: str
    policy: Policy
    outcome: Outcome
    frames: int
    fps: float | None  # None for a strip


def render(
    run: str | Path,
    output: Path,
    *,
    descriptor: ArrayLike | None = None,
    cell: int | None = None,
    actor: bool = False,
    seed: int = 0,
    width: int | None = None,
    height: int | None = None,
    fps: float = 25,
    speed: float = 1.0,
    seconds: float = np.inf,
    moments: int = 6,
    plain: bool = False,
    overwrite: bool = False,
    task: str | None = None,
    trust_task: bool = False,
    watch: Watch | None = None,
) -> Rendered:
    """Draw one episode of a run's elite or actor, chosen as by `choose`. The output's ending gives the format."""
    ending = output.suffix
    encoding.check_ending(ending)
    size = _size(width, height, ending)
    for name, value in (("the frame rate", fps), ("the playback speed", speed)):
        if not 0 < value < np.inf:
            raise ValueError(f"{name} must be above 0, got {value:g}")
    if not seconds > 0:
        raise ValueError(f"the seconds to show must be above 0, got {seconds:g}")
    if moments < 1:
        raise ValueError(f"a strip has at least 1 moment, got {moments}")
    free(output, overwrite=overwrite)
    repertoire = load(run)
    policy = choose(repertoire, descriptor=descriptor, cell=cell, actor=actor)
    known = registry.get(usable_task(repertoire.task, run, given=task, trusted=trust_task))
    fps = encoding.possible_fps(ending, fps)
    with open_player(known, size, captions=not plain) as play:
        played = play(policy, seed)
        steps, period = played.outcome.steps, played.outcome.period
        if ending == ".png":
            times = video.strip_times(steps, period, moments, seconds)
        else:
            times = video.video_times(steps, period, fps, speed, seconds)
        content = _encoded(_watched(played.pictures(times), len(times), watch), ending, fps)
    write_bytes(output, content)
    return Rendered(
        output=output,
        task=known.name,
        policy=policy,
        outcome=played.outcome,
        frames=len(times),
        fps=None if ending == ".png" else fps,
    )


def policy_video(policy: Policy, seed: int, ending: str, *, fps: float = 25, watch: Watch | None = None) -> bytes:
    """One whole episode of a policy as a video in the usual size."""
    fps = encoding.possible_fps(ending, fps)
    with open_player(registry.get(policy.task), _size(None, None, ending), captions=True) as play:
        played = play(policy, seed)
        times = video.video_times(played.outcome.steps, played.outcome.period, fps, 1.0)
        return _encoded(_watched(played.pictures(times), len(times), watch), ending, fps)


def montage(
    run: str | Path,
    output: Path,
    *,
    regions: int = 5,
    seed: int = 0,
    overwrite: bool = False,
    task: str | None = None,
    trust_task: bool = False,
    watch: Watch | None = None,
) -> dict[tuple[int, int], int]:
    """Draw the map, and the fittest elite of each of its regions; return their cells by region.

    An elite is drawn half-way through its episode, or at the end where the descriptor is that of the last state.
    """
    if output.suffix != ".png":
        raise ValueError(f"a montage is a picture; its output must end in .png, got {output}")
    if not 1 <= regions <= 20:
        raise ValueError(f"a montage has 1 to 20 regions per dimension, got {regions}")
    free(output, overwrite=overwrite)
    repertoire = load(run)
    cells = fittest_of_regions(repertoire, regions)
    if not cells:
        raise ValueError("the repertoire is empty")
    known = registry.get(usable_task(repertoire.task, run, given=task, trusted=trust_task))
    pictures = {}
    with open_player(known, Size(width=None, height=None, usual=(TILE, TILE)), captions=False) as play:
        for drawn, (region, cell) in enumerate(cells.items(), start=1):
            played = play(repertoire.policy(cell), seed)
            steps = played.outcome.steps
            step = steps if known.descriptor.over == "last" else steps // 2
            pictures[region] = next(played.pictures(np.array([float(step)])))
            if watch is not None:
                watch(drawn, len(cells))
    draw_montage(repertoire, regions, cells, pictures, output)
    return cells


def _encoded(pictures: Iterator[Picture], ending: str, fps: float) -> bytes:
    if ending == ".mp4":
        return encoding.mp4(pictures, fps)
    if ending == ".gif":
        return encoding.gif(pictures, fps)
    return encoding.png(video.side_by_side(list(pictures)))


def _size(width: int | None, height: int | None, ending: str) -> Size:
    given = [side for side in (width, height) if side is not None]
    if not all(16 <= side <= 4096 for side in given):
        raise ValueError(f"the width and height of a picture are 16 to 4096 pixels, got {' x '.join(map(str, given))}")
    if ending == ".mp4" and any(side % 2 for side in given):
        raise ValueError(f"the width and height of an .mp4 must be even, got {' x '.join(map(str, given))}")
    return Size(width=width, height=height, usual=SIZES[ending])


def _watched(pictures: Iterator[Picture], count: int, watch: Watch | None) -> Iterator[Picture]:
    for drawn, picture in enumerate(pictures, start=1):
        yield picture
        if watch is not None:
            watch(drawn, count)
