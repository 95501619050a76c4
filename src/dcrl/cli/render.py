"""`dcrl render RUN`: what a policy does, as a film or a picture."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from dcrl.cli import output as printing
from dcrl.cli.descriptor import numbers
from dcrl.rendering import render as rendering
from dcrl.rendering.render import Rendered, Watch
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
    trust_task: bool = False,
    overwrite: bool = False,
    json: bool = False,
) -> int:
    """Play one episode of a policy and draw it: the elite nearest to --descriptor, that of --cell, or the fittest.

    Needs OpenGL, which software provides where there is no graphics card: docs/render.md.

    Args:
        path: a run's directory, or a repertoire's file
        output: the file to write: a film, .mp4 or .gif, or a .png strip of moments side by side
        descriptor: what the policy should do, such as 0.3,0.8, in the descriptor's units
        cell: the elite's cell
        actor: draw the descriptor-conditioned actor, told --descriptor, and not an elite
        montage: draw the map and the fittest elite of each region of it, as a .png
        seed: of the start state
        width: of one picture, in pixels; by default 640 for an .mp4, 400 for a .gif, 300 for a .png
        height: of one picture, in pixels; by default 480 for an .mp4, 300 for a .gif, 300 for a .png
        fps: pictures a second
        speed: times as fast as life; 0.25 is slow motion
        seconds: of the episode to show at most; all of it by default
        moments: pictures in a strip
        regions: of a montage, along each of the first two descriptor dimensions
        plain: write no time and descriptor onto the pictures
        trust_task: run the code of a task of the form file.py:object or module:object that a run names
        overwrite: replace the output file if it is already there
        json: print a JSON object, for programs
    """
    wanted = None if descriptor is None else numbers(descriptor)
    if montage:
        if wanted is not None or cell is not None or actor:
            raise ValueError(
                "--montage shows elites of the whole map; it goes without --descriptor, --cell and --actor"
            )
        if width is not None or height is not None:
            raise ValueError("--montage draws each robot as large as its region; it goes without --width and --height")
        with _progress() as watch:
            cells = rendering.montage(
                path, output, regions=regions, seed=seed, overwrite=overwrite, trust_task=trust_task, watch=watch
            )
        if json:
            found = [{"column": column, "row": row, "cell": cell} for (column, row), cell in sorted(cells.items())]
            printing.print_json({"output": str(output), "regions": regions, "elites": found})
        else:
            print(f"wrote {output}: the fittest elites of {len(cells)} of {regions * regions} regions")
        return 0
    with _progress() as watch:
        done = rendering.render(
            path,
            output,
            descriptor=wanted,
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
            trust_task=trust_task,
            watch=watch,
        )
    if json:
        printing.print_json(_fields(done, seed))
    else:
        print("\n".join(_lines(done)))
    return 0


def _fields(done: Rendered, seed: int) -> dict[str, Any]:
    policy, motion = done.policy, done.motion
    return {
        "output": str(done.output),
        "task": motion.task,
        "policy": policy.kind,
        "cell": policy.cell,
        "seed": seed,
        "promised": {"descriptor": policy.descriptor.tolist(), "fitness": policy.fitness},
        "achieved": {
            "descriptor": motion.descriptor.tolist() if motion.valid else None,
            "fitness": motion.fitness if motion.valid else None,
        },
        "steps": motion.steps,
        "seconds": motion.seconds,
        "terminated": motion.terminated,
        "valid": motion.valid,
        "pictures": done.pictures,
        "fps": done.fps,
    }


def _lines(done: Rendered) -> list[str]:
    policy, motion = done.policy, done.motion
    rate = "" if done.fps is None else f" at {done.fps:g} a second"
    end = "fell" if motion.terminated else "ended" if motion.valid else "the simulation diverged"
    who = f"cell {policy.cell}" if policy.cell is not None else f"told {_listed(policy.descriptor)}"
    promised = "nothing: the actor has no record"
    if policy.fitness is not None:
        promised = f"descriptor {_listed(policy.descriptor)}, fitness {policy.fitness:,.1f}"
    return [
        f"wrote {done.output}: {done.pictures} pictures{rate}",
        f"{policy.kind:<10} {who}",
        f"{'promised':<10} {promised}",
        f"{'achieved':<10} descriptor {_listed(motion.descriptor)}, fitness {motion.fitness:,.1f}; "
        f"{end} after {motion.seconds:.2f} s ({motion.steps} steps)",
    ]


def _listed(values: Floats) -> str:
    return ", ".join(f"{value:.3g}" for value in values.tolist())


@contextmanager
def _progress() -> Iterator[Watch | None]:
    """A bar in a terminal, on standard error; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = TextColumn("drawing"), BarColumn(), MofNCompleteColumn(), TextColumn("left"), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("drawing", total=None)
        yield lambda done, total: progress.update(bar, completed=done, total=total)
