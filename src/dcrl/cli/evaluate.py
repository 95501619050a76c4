"""`dcrl evaluate RUN`: re-evaluate an archive's elites and its actor."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TextIO

import tyro

from dcrl import devices, simulators
from dcrl.archive.centroids import cache_directory
from dcrl.cli import output as printing
from dcrl.cli import reproducibility
from dcrl.cli.interrupt import Interrupted, interrupts
from dcrl.cli.progress import Progress
from dcrl.evaluation import files as results
from dcrl.evaluation.cost import estimate
from dcrl.evaluation.repeats import Repeats, matching_task, play, resized, unplayed
from dcrl.evaluation.reproducibility import REPEATS, measure
from dcrl.files import read_json
from dcrl.repertoires.load import load
from dcrl.repertoires.repertoire import Repertoire
from dcrl.repertoires.trust import usable_task
from dcrl.repertoires.words import plural
from dcrl.runs.lock import Lock
from dcrl.simulators.simulator import Simulator
from dcrl.tasks.gymnasium import GymnasiumTask

SAVE_SECONDS = 15.0
INTERRUPTED = 130


def run(
    path: Annotated[Path, tyro.conf.arg(metavar="RUN")],
    /,
    *,
    repeats: int = REPEATS,
    seed: int = 0,
    no_actor: bool = False,
    simulator: str | None = None,
    threads: int | None = None,
    output: Annotated[Path | None, tyro.conf.arg(metavar="DIR")] = None,
    task: Annotated[str | None, tyro.conf.arg(metavar="FILE:OBJECT")] = None,
    trust_task: bool = False,
    overwrite: bool = False,
    json: bool = False,
) -> int:
    """Re-evaluate every elite, and the actor on every occupied cell: how reproducible an archive is.

    Prints the cost first. After an interruption the same command continues; so does one with more --repeats.

    Args:
        path: a run directory, also of a run in progress, or a repertoire file
        repeats: episodes per policy, each from its own start; 512 in the paper
        seed: seed of the starts, 0 to 2^32 - 1
        no_actor: leave out the actor; takes half of the time
        simulator: mujoco or mjx, or gymnasium for such tasks; the run's own by default
        threads: threads of the mujoco simulator; all cores by default. Does not change results.
        output: directory for the results; by default `reproducibility` in the run directory, or next to the file
        task: where the run's own task is now, as file.py:object or module:object
        trust_task: run the code that a run names as its task; not needed for a file that you have used before
        overwrite: start again and replace existing results
        json: print the totals as a JSON object, for programs; everything else goes to stderr
    """
    if not 0 <= seed < 2**32:
        raise ValueError(f"the seed must be a whole number from 0 to 2^32 - 1, got {seed}")
    say = sys.stderr if json else sys.stdout
    devices.prepare(cache_directory())
    repertoire = load(path)
    played = matching_task(repertoire, usable_task(repertoire.task, path, given=task, trusted=trust_task))
    name = simulator or _own_simulator(path) or ("gymnasium" if isinstance(played, GymnasiumTask) else "mujoco")
    fresh = unplayed(repertoire, repeats, actor=not no_actor)
    own = results.about(repertoire, played, seed, name, actor=not no_actor)
    directory = output or default_directory(path)
    with simulators.make(played, name, threads) as opened, _locked(directory):
        done = _found(directory, fresh, own, say, overwrite=overwrite)
        if done.done < done.total:
            reproducibility.print_cost(estimate(repertoire, done, opened, seed), done, repertoire, directory, say)
            after = _play(directory, done, repertoire, opened, seed, own, say)
            if after is None:
                return INTERRUPTED
            done = after
        found = measure(done)
        totals = results.totals(found, repertoire, own)
        if not results.written(directory, totals):
            results.write_results(directory, found, repertoire, own)
    if json:
        printing.print_json(totals | {"output": str(directory)})
    else:
        reproducibility.print_results(totals, directory)
    return 0


def default_directory(path: Path) -> Path:
    """In a run directory; next to a file, named after it unless it is a run's archive."""
    if path.is_dir():
        return path / "reproducibility"
    own = path.name == "archive.safetensors"
    return path.with_name("reproducibility" if own else f"{path.stem}-reproducibility")


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """A directory for the results, created if needed, and locked against other processes."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"cannot write to {directory}: {error.strerror}; choose another --output") from None
    lock = Lock(directory)
    try:
        yield
    finally:
        lock.release()


def _own_simulator(path: Path) -> str | None:
    """The simulator a run was trained with, if its directory says so."""
    config = (path if path.is_dir() else path.parent) / "config.json"
    if not config.is_file() or (path.is_file() and path.name != "archive.safetensors"):
        return None
    content = read_json(config)
    named = content.get("simulator") if isinstance(content, dict) else None
    return str(named) if named else None


def _found(directory: Path, fresh: Repeats, own: dict[str, Any], say: TextIO, *, overwrite: bool) -> Repeats:
    """The repeats to continue from."""
    if overwrite:
        results.remove_results(directory)
    if not (directory / results.EPISODES).exists():
        return fresh
    asked = len(fresh.fitness)
    try:
        done, metadata = results.read_episodes(directory)
        other = results.differing(metadata, own)
    except ValueError as error:
        raise ValueError(f"{error}; --overwrite starts again, another --output keeps it") from None
    if other:
        if (directory / results.TOTALS).exists() or done.done == done.total:
            raise ValueError(
                f"{directory} contains other results ({other}); --overwrite replaces them, or choose another --output"
            )
        print(f"starts again: the repeats in {directory} are of something else ({other})", file=say, flush=True)
        results.remove_results(directory)
        return fresh
    if done.done > asked * done.policies:
        raise ValueError(
            f"{directory} already contains {plural(done.whole, 'repeat')}, more than --repeats {asked}; "
            "--overwrite replaces them"
        )
    if done.done:
        print(
            f"continues after {plural(done.done, 'episode')}, {plural(done.whole, 'repeat')} of every policy",
            file=say,
            flush=True,
        )
    return resized(done, asked)


def _play(
    directory: Path,
    repeats: Repeats,
    repertoire: Repertoire,
    simulator: Simulator,
    seed: int,
    own: dict[str, Any],
    say: TextIO,
) -> Repeats | None:
    """Play the remaining episodes; None if interrupted. Episodes played so far are saved in any case."""
    saved = time.monotonic()
    with interrupts() as interrupt, Progress(repeats.total, repeats.done, say) as progress:
        try:
            for now in play(repertoire, repeats, simulator, seed):
                repeats = now
                progress.show(now.done, f"{now.whole:,} of {plural(len(now.fitness), 'repeat')}")
                if time.monotonic() - saved > SAVE_SECONDS:
                    results.save_episodes(directory, now, repertoire, own)
                    saved = time.monotonic()
                if now.done < now.total:
                    interrupt.check()
        except Interrupted:
            progress.close()
            kept = f"{repeats.done:,} of {plural(repeats.total, 'episode')} are saved in {directory}"
            print(f"stopped; {kept}, and the same command continues", file=say)
            return None
        finally:
            results.save_episodes(directory, repeats, repertoire, own)
    return repeats
