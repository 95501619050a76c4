"""A run's policy -> its motion -> a film, a strip of pictures, or a montage of many."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from dcrl.files import free, write_bytes
from dcrl.rendering import encoding, film
from dcrl.rendering.drawing import Studio
from dcrl.rendering.film import Picture
from dcrl.rendering.montage import montage as draw_montage
from dcrl.rendering.motion import Motion, record
from dcrl.repertoires.choice import choose, fittest_of_regions
from dcrl.repertoires.load import load
from dcrl.repertoires.policy import Policy
from dcrl.repertoires.repertoire import Repertoire
from dcrl.repertoires.trust import check_task
from dcrl.tasks import registry
from dcrl.tasks.task import Task
from dcrl.types import Floats

Watch: TypeAlias = Callable[[int, int], None]  # pictures drawn, of how many

SIZES = {".mp4": (640, 480), ".gif": (400, 300), ".png": (300, 300)}  # of one picture, where none is asked for
TILE = 220  # pixels, the side of a montage's pictures


@dataclass(frozen=True, kw_only=True)
class Rendered:
    """What was drawn, and how it compares with what the repertoire promised."""

    output: Path
    policy: Policy
    motion: Motion
    pictures: int
    fps: float | None  # none of a strip


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
    trust_task: bool = False,
    watch: Watch | None = None,
) -> Rendered:
    """Draw one episode of a run's elite or actor, as `choose` chooses it; the output's ending says as what."""
    ending = output.suffix
    encoding.needs(ending)
    usual = SIZES[ending]
    size = _size(usual[0] if width is None else width, usual[1] if height is None else height, ending)
    for name, value in (("the pictures a second", fps), ("the speed", speed), ("the seconds shown", seconds)):
        if not value > 0 or (np.isinf(value) and name != "the seconds shown"):
            raise ValueError(f"{name} must be above 0, got {value:g}")
    if moments < 1:
        raise ValueError(f"a strip has at least 1 moment, got {moments}")
    free(output, overwrite=overwrite)
    repertoire = load(run)
    check_task(repertoire.task, run, trust=trust_task)
    policy = choose(repertoire, descriptor=descriptor, cell=cell, actor=actor)
    task = _robot(repertoire)
    studio = _studio(task, *size)
    try:
        motion = record(task, policy.genotype, seed, hidden=policy.layers.sizes[1:-1])
        fps = encoding.rate(ending, fps)
        strip = ending == ".png"
        times = film.spread(motion, moments, seconds) if strip else film.moments(motion, fps, speed, seconds)
        drawn = _watched(film.pictures(studio, motion, times, None if plain else task.descriptor), times, watch)
        if ending == ".mp4":
            content = encoding.mp4(drawn, *size, fps)
        elif ending == ".gif":
            content = encoding.gif(drawn, fps)
        else:
            content = encoding.png(film.strip(list(drawn)))
    finally:
        studio.close()
    write_bytes(output, content)
    return Rendered(output=output, policy=policy, motion=motion, pictures=len(times), fps=None if strip else fps)


def montage(
    run: str | Path,
    output: Path,
    *,
    regions: int = 5,
    seed: int = 0,
    overwrite: bool = False,
    trust_task: bool = False,
    watch: Watch | None = None,
) -> dict[tuple[int, int], int]:
    """Draw the map, and the fittest elite of each region of it in the middle of its episode; their cells by region.

    Where the descriptor is the last state's, it is that state which is drawn.
    """
    if output.suffix != ".png":
        raise ValueError(f"a montage is a picture; its output must end in .png, got {output}")
    if not 1 <= regions <= 20:
        raise ValueError(f"a montage has 1 to 20 regions a dimension, got {regions}")
    free(output, overwrite=overwrite)
    repertoire = load(run)
    check_task(repertoire.task, run, trust=trust_task)
    cells = fittest_of_regions(repertoire, regions)
    if not cells:
        raise ValueError("the repertoire is empty")
    task = _robot(repertoire)
    studio = _studio(task, TILE, TILE)
    pictures = {}
    try:
        for done, (region, cell) in enumerate(cells.items()):
            motion = record(task, repertoire.genotype[cell], seed, hidden=repertoire.layers.sizes[1:-1])
            step = motion.steps if task.descriptor.over == "last" else motion.steps // 2
            pictures[region] = next(film.pictures(studio, motion, np.array([float(step)])))
            if watch is not None:
                watch(done + 1, len(cells))
    finally:
        studio.close()
    draw_montage(repertoire, regions, cells, pictures, output)
    return cells


def _robot(repertoire: Repertoire) -> Task:
    task = registry.get(repertoire.task)
    if not isinstance(task, Task):
        raise ValueError(f"task {task.name} is a Gymnasium environment, which draws itself; expected a robot's task")
    return task


def _studio(task: Task, width: int, height: int) -> Studio:
    try:
        return Studio(task, width, height)
    except RuntimeError as error:
        raise ValueError(str(error)) from None


def _size(width: int, height: int, ending: str) -> tuple[int, int]:
    if not (16 <= width <= 4096 and 16 <= height <= 4096):
        raise ValueError(f"a picture is 16 to 4096 pixels wide and high, got {width} x {height}")
    if ending == ".mp4" and (width % 2 or height % 2):
        raise ValueError(f"an .mp4 has an even width and height, got {width} x {height}")
    return width, height


def _watched(drawn: Iterator[Picture], times: Floats, watch: Watch | None) -> Iterator[Picture]:
    for done, picture in enumerate(drawn):
        yield picture
        if watch is not None:
            watch(done + 1, len(times))
