"""One run or repertoire re-evaluated in this process: its cost first, then progress; Ctrl-C keeps what was played."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, TextIO

import tyro

from dcrl import devices, simulators
from dcrl.archive.centroids import cache_directory
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
from dcrl.simulators.workers import WorkersConfig
from dcrl.tasks.gymnasium import GymnasiumTask

SAVE_SECONDS = 15.0


@dataclass(frozen=True, kw_only=True)
class EvaluationFlags:
    """How a run is evaluated."""

    repeats: int = REPEATS
    """Episodes per policy, each from its own start; 512 in the paper."""
    seed: int = 0
    """Seed of the starts, 0 to 2^32 - 1."""
    no_actor: bool = False
    """Skip the actor, which halves the time."""
    simulator: str | None = None
    """mujoco or mjx, or gymnasium for such tasks; the run's own by default."""
    threads: int | None = None
    """Threads of the mujoco simulator; all cores by default. Does not change results."""
    workers: Annotated[str | None, tyro.conf.arg(metavar="local:N|ray|ray:N")] = None
    """Processes that play the episodes, as for `dcrl train`; none by default. Does not change results."""
    output: Annotated[Path | None, tyro.conf.arg(metavar="DIR")] = None
    """Directory for the results; by default `reproducibility` in the run directory, or next to the file."""
    task: Annotated[str | None, tyro.conf.arg(metavar="FILE:OBJECT")] = None
    """The new location of the run's own task, as file.py:object or module:object."""
    trust_task: bool = False
    """Run the code that a run names as its task; not needed for a file that you have used before."""
    overwrite: bool = False
    """Start again and replace existing results."""

    def words(self) -> tuple[str, ...]:
        """The flags of a command line that differ from the defaults, but for repeats, seed and output."""
        words: list[str] = []
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name not in ("repeats", "seed", "output") and value != field.default:
                flag = f"--{field.name.replace('_', '-')}"
                words += [flag] if value is True else [flag, str(value)]
        return tuple(words)


def evaluate(path: Path, flags: EvaluationFlags, say: TextIO, address: str | None = None) -> dict[str, Any] | None:
    """Evaluate one run in this process; its totals, or None if the user interrupted. `address` is of Ray workers."""
    where = WorkersConfig(workers=flags.workers or "local:0", address=address).parsed(gymnasium=False)
    if not 0 <= flags.seed < 2**32:
        raise ValueError(f"the seed must be a whole number from 0 to 2^32 - 1, got {flags.seed}")
    devices.prepare(cache_directory())
    repertoire = load(path)
    played = matching_task(repertoire, usable_task(repertoire.task, path, given=flags.task, trusted=flags.trust_task))
    name = flags.simulator or _own_simulator(path) or ("gymnasium" if isinstance(played, GymnasiumTask) else "mujoco")
    fresh = unplayed(repertoire, flags.repeats, actor=not flags.no_actor)
    own = results.about(repertoire, played, flags.seed, name, actor=not flags.no_actor)
    directory = flags.output or default_directory(path)
    with (
        simulators.make(played, name, flags.threads, where, flags.task or repertoire.task) as opened,
        _locked(directory),
    ):
        done = _found(directory, fresh, own, say, overwrite=flags.overwrite)
        if done.done < done.total:
            reproducibility.print_cost(estimate(repertoire, done, opened, flags.seed), done, repertoire, directory, say)
            after = _play(directory, done, repertoire, opened, flags.seed, own, say)
            if after is None:
                return None
            done = after
        found = measure(done)
        totals = results.totals(found, repertoire, own)
        if not results.written(directory, totals):
            results.write_results(directory, found, repertoire, own)
    return totals | {"output": str(directory)}


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
        print(f"starting again: the repeats in {directory} belong to something else ({other})", file=say, flush=True)
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
