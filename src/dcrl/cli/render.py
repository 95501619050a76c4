"""`dcrl render RUN`: a video or a picture of a policy."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from dcrl.cli import output as printing
from dcrl.cli.descriptor import numbers
from dcrl.rendering import render as rendering
from dcrl.rendering.interruption import keyboard_interrupts
from dcrl.rendering.render import Rendered, Watch
from dcrl.repertoires.words import plural
from dcrl.types import Floats


def run(
    path: Annotated[Path, tyro.conf.arg(metavar="RUN")],
    /,
    *,
    output: Annotated[Path, tyro.conf.arg(metavar="FILE")],
    descriptor: Annotated[str | None, tyro.conf.arg(metavar="D1,D2,...")] = None,
    cell: int | None = None,
    actor: bool = False,
    montage: bool = False,
    seed: int = 0,
    width: int | None = None,
    height: int | None = None,
    fps: float = 25,
    speed: float = 1.0,
    seconds: float = float("inf"),
    moments: int = 6,
    regions: int = 5,
    plain: bool = False,
    task: Annotated[str | None, tyro.conf.arg(metavar="FILE:OBJECT")] = None,
    trust_task: bool = False,
    overwrite: bool = False,
    json: bool = False,
) -> int:
    """Render one episode of a policy: the elite nearest to --descriptor, the elite of --cell, or the fittest elite.

    Robots require OpenGL; software rendering is enough (docs/render.md). Gymnasium environments render themselves.

    Args:
        path: the directory of a run, or a repertoire file
        output: the file to write: a video (.mp4 or .gif), or a strip of pictures side by side (.png)
        descriptor: the target descriptor, comma-separated, such as 0.3,0.8
        cell: the cell of the elite
        actor: draw the descriptor-conditioned actor, conditioned on --descriptor, instead of an elite
        montage: draw the map and the fittest elite of each of its regions, as a .png
        seed: the seed of the start state
        width: the width of a picture in pixels; the default is 640 for .mp4, 400 for .gif, 300 for .png
        height: the height of a picture in pixels; the default is 480 for .mp4, 300 for .gif, 300 for .png
        fps: frames per second
        speed: playback speed; 0.25 is slow motion
        seconds: show at most this many seconds of the episode; by default all of it
        moments: number of pictures in a strip
        regions: number of regions of a montage along each of the first two descriptor dimensions
        plain: draw no captions (time, descriptor so far)
        task: the new location of the run's own task, as file.py:object or module:object
        trust_task: run the code that the run names as its task; not needed for a file that you have used before
        overwrite: replace the output file if it exists
        json: print a JSON object
    """
    target = None if descriptor is None else numbers(descriptor)
    if montage:
        if target is not None or cell is not None or actor:
            raise ValueError(
                "--montage shows elites of the whole map; it cannot be combined with --descriptor, --cell or --actor"
            )
        if width is not None or height is not None:
            raise ValueError("--montage sets the size of its pictures; it cannot be combined with --width or --height")
        with _progress() as watch:
            cells = rendering.montage(
                path,
                output,
                regions=regions,
                seed=seed,
                overwrite=overwrite,
                task=task,
                trust_task=trust_task,
                watch=watch,
            )
        if json:
            found = [{"column": column, "row": row, "cell": cell} for (column, row), cell in sorted(cells.items())]
            printing.print_json({"output": str(output), "regions": regions, "elites": found})
        else:
            print(f"wrote {output}: the fittest elites of {len(cells)} of {plural(regions * regions, 'region')}")
        return 0
    with _progress() as watch:
        done = rendering.render(
            path,
            output,
            descriptor=target,
            cell=cell,
            actor=actor,
            seed=seed,
            width=width,
            height=height,
            fps=fps,
            speed=speed,
            seconds=seconds,
            moments=moments,
            plain=plain,
            overwrite=overwrite,
            task=task,
            trust_task=trust_task,
            watch=watch,
        )
    if json:
        printing.print_json(_fields(done, seed))
    else:
        print("\n".join(_lines(done)))
    return 0


def _fields(done: Rendered, seed: int) -> dict[str, Any]:
    policy, outcome = done.policy, done.outcome
    return {
        "output": str(done.output),
        "task": done.task,
        "policy": policy.kind,
        "cell": policy.cell,
        "seed": seed,
        "stored": {"descriptor": policy.descriptor.tolist(), "fitness": policy.fitness},
        "achieved": {
            "descriptor": outcome.descriptor.tolist() if outcome.valid else None,
            "fitness": outcome.fitness if outcome.valid else None,
        },
        "steps": outcome.steps,
        "seconds": outcome.seconds,
        "terminated": outcome.terminated,
        "valid": outcome.valid,
        "frames": done.frames,
        "fps": done.fps,
    }


def _lines(done: Rendered) -> list[str]:
    policy, outcome = done.policy, done.outcome
    drawn = (
        plural(done.frames, "picture") if done.fps is None else f"{plural(done.frames, 'frame')} at {done.fps:g} fps"
    )
    end = "terminated" if outcome.terminated else "truncated" if outcome.valid else "the simulation diverged"
    which = f"cell {policy.cell}" if policy.cell is not None else f"conditioned on {_listed(policy.descriptor)}"
    stored = "nothing: only elites have a stored fitness and descriptor"
    if policy.fitness is not None:
        stored = f"descriptor {_listed(policy.descriptor)}, fitness {policy.fitness:,.1f}"
    return [
        f"wrote {done.output}: {drawn}",
        f"{policy.kind:<10} {which}",
        f"{'stored':<10} {stored}",
        f"{'achieved':<10} descriptor {_listed(outcome.descriptor)}, fitness {outcome.fitness:,.1f}; "
        f"{end} after {outcome.seconds:.2f} s ({plural(outcome.steps, 'step')})",
    ]


def _listed(values: Floats) -> str:
    return ", ".join(f"{value:.3g}" for value in values.tolist())


@contextmanager
def _progress() -> Iterator[Watch | None]:
    """A progress bar on standard error if that is a terminal, from the first picture to the last."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = TextColumn("drawing"), BarColumn(), MofNCompleteColumn(), TextColumn("left"), TimeRemainingColumn()
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    bar = progress.add_task("drawing", total=None)
    with ExitStack() as stack:

        def watch(done: int, total: int) -> None:
            if not progress.live.is_started:
                stack.enter_context(keyboard_interrupts())  # so that Ctrl-C removes the bar
                stack.enter_context(progress)
            progress.update(bar, completed=done, total=total)
            if done == total:
                stack.close()

        yield watch
