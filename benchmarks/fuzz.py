"""Damage repertoire and checkpoint files at random and load them: each is refused in a sentence, or is what it was.

Files that only lost or changed bytes must be refused or give back the original exactly. Of every eighth file the
checksums are made to fit the change, as an attacker would: then it must be refused, or hold arrays of the
right kinds and shapes. Nothing may raise anything but a ValueError, take longer than 10 s, or need more than 2 GiB.

    python benchmarks/fuzz.py --files 10000 --seed 0
"""

from __future__ import annotations

import argparse
import copy
import dataclasses
import hashlib
import json
import resource
import signal
import struct
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np

import dcrl
from dcrl import files
from dcrl.algorithms.algorithm import Algorithm, ArchiveConfig, State
from dcrl.networks.policies import Layers
from dcrl.repertoires.save import save, save_actor
from dcrl.runs import config as configs
from dcrl.runs.checkpoint import Checkpoints
from dcrl.types import Descriptor
from mutations import MUTATIONS, header, with_header

SECONDS, GIB = 10, 2**30
SPACE = Descriptor(names=("x", "y"), unit="m", low=(-1.0, 0.0), high=(1.0, 5.0), over="last")
LAYERS, ACTOR = Layers((3, 4, 2)), Layers((5, 4, 2))
OCCUPIED = np.array([True, False, True, True, False, True])
ARRAYS = ("centroids", "occupied", "fitness", "descriptor", "genotype", "actor_parameters")


def small() -> dcrl.Repertoire:
    """A repertoire of six cells."""
    random = np.random.default_rng(0)
    centroids = random.uniform((-1, 0), (1, 5), (6, 2)).astype(np.float32)
    genotype = random.normal(size=(6, LAYERS.parameters)).astype(np.float32)
    return dcrl.Repertoire(
        task="point",
        layers=LAYERS,
        space=SPACE,
        centroids=centroids,
        occupied=OCCUPIED,
        fitness=np.where(OCCUPIED, random.normal(size=6), np.nan).astype(np.float32),
        descriptor=np.where(OCCUPIED[:, None], centroids, np.nan).astype(np.float32),
        genotype=np.where(OCCUPIED[:, None], genotype, 0).astype(np.float32),
        algorithm="me",
        seed=3,
        evaluations=40,
    )


class Hang(BaseException):
    """Loading a file took too long."""


def _alarm(number: int, frame: object) -> None:
    raise Hang


def attempt(load: Callable[[], Any], case: str) -> Any:
    """What loading gives, None if it was refused; anything else ends the whole."""
    begin = time.monotonic()
    try:
        found = load()
    except Exception as error:
        expected = any(part in str(error) for part in (".safetensors", " cannot be resumed: "))
        if type(error) is not ValueError or not expected:
            raise AssertionError(f"{case}: {error!r}") from error
        found = None
    assert time.monotonic() - begin < SECONDS, f"{case} took {time.monotonic() - begin:.0f} s"
    return found


def repertoires(directory: Path, count: int, seed: int) -> Counter[str]:
    """Archives and actors: how many were refused, gave the original back, or are valid with checksums that fit."""
    archive, actor = directory / "archive.safetensors", directory / "actor.safetensors"
    save(archive, small())
    save_actor(actor, np.arange(ACTOR.parameters), {"task": "point", "layers": ACTOR.sizes})
    original, whole = dcrl.load(directory), {path: path.read_bytes() for path in (archive, actor)}
    random, outcomes = np.random.default_rng(seed), Counter[str]()
    for number in range(count):
        mutation, sealed = MUTATIONS[number % len(MUTATIONS)], number // len(MUTATIONS) % 8 == 7
        path = actor if random.random() < 0.2 else archive
        changed = mutation(random, whole[path])
        path.write_bytes(_resealed(changed) if sealed else changed)
        case = f"{mutation.__name__} of {path.name}, number {number} of seed {seed}"
        found = attempt(lambda: dcrl.load(directory), case)
        same = found is not None and _bits(found) == _bits(original)
        assert found is None or same or (sealed and _kinds(found)), f"{case} loads as another repertoire"
        outcomes["refused" if found is None else "same" if same else "other, resealed"] += 1
        path.write_bytes(whole[path])
    return outcomes


def _bits(found: dcrl.Repertoire) -> list[Any]:
    return [*(getattr(found, name).tobytes() for name in ARRAYS), found.task, found.layers, found.space]


def _kinds(found: dcrl.Repertoire) -> bool:
    """Whether it can be used as what it says it is."""
    cells, elite = len(found.centroids), found.occupied
    shapes = found.genotype.shape == (cells, found.layers.parameters) and found.fitness.shape == elite.shape == (cells,)
    return shapes and all(bool(np.isfinite(getattr(found, name)[elite]).all()) for name in ("fitness", "genotype"))


def _resealed(content: bytes) -> bytes:
    """The same with a checksum that fits, where it can still be read."""
    try:
        with tempfile.NamedTemporaryFile(suffix=".safetensors") as file:
            head, data = header(content)
            metadata = json.loads(head["__metadata__"]["dcrl"])
            metadata.pop("checksum", None)
            Path(file.name).write_bytes(with_header(head | {"__metadata__": {"dcrl": json.dumps(metadata)}}, data))
            tensors, metadata = files.read_tensors(Path(file.name))
            files.write_tensors(Path(file.name), tensors, metadata, own_checksum=True)
            return Path(file.name).read_bytes()
    except (ValueError, KeyError, TypeError, AttributeError, struct.error, OverflowError):
        return content


def checkpointed(name: str) -> tuple[Algorithm, State]:
    """An algorithm and a state of it in which everything that a checkpoint can hold has something in it."""
    usual = configs.default("point_omni", name)
    parts: dict[str, Any] = {"archive": ArchiveConfig(cells=16, cvt_samples=100)}
    if hasattr(usual.hyperparameters, "td3"):
        parts["td3"] = dataclasses.replace(usual.hyperparameters.td3, critic_hidden=(4, 4), replay_size=40)
    small = dataclasses.replace(usual.hyperparameters, **parts)
    with configs.open_algorithm(dataclasses.replace(usual, hidden=(4, 4), hyperparameters=small)) as opened:
        algorithm = opened  # nothing is simulated
    blank, random = algorithm.empty_state(0), np.random.default_rng(1)
    archive = dataclasses.replace(blank.archive, fitness=random.normal(size=blank.archive.fitness.shape).astype("f4"))
    novelty = random.normal(size=(5, 2)).astype(np.float32)
    if algorithm.learners:
        for array in blank.replay.arrays:
            array[:] = random.integers(0, 3, array.shape)
        blank.replay.inserted = 30
    return algorithm, dataclasses.replace(blank, generation=3, evaluations=48, archive=archive, novelty=novelty)


def checkpoints(directory: Path, name: str, count: int, seed: int) -> Counter[str]:
    """Checkpoints of an algorithm: the same counts. The one checkpoint is given back as it was, or found damaged."""
    algorithm, state = checkpointed(name)
    directory.mkdir()
    about = {"seed": 0, "task": {"reward": "1"}}
    if algorithm.learners:  # two pieces
        part = dataclasses.replace(state, generation=2, replay=copy.copy(state.replay))
        part.replay.inserted = 20
        first = Checkpoints(directory, kept=1)
        first.save(part, about)
        first.save(state, about)
    else:
        Checkpoints(directory).save(state, about)
    whole = {path: path.read_bytes() for path in sorted(directory.iterdir())}
    empty = algorithm.empty_state(0)
    original, random, outcomes = _leaves(state), np.random.default_rng(seed), Counter[str]()
    for number in range(count):
        mutation, sealed = MUTATIONS[number % len(MUTATIONS)], number // len(MUTATIONS) % 8 == 7
        paths = list(whole)
        path = paths[random.integers(len(paths))]
        path.write_bytes(mutation(random, whole[path]))
        if random.random() < 0.05:  # a whole file is another, or missing
            path.write_bytes(whole[paths[random.integers(len(paths))]])
        if random.random() < 0.02:
            path.unlink()
        if sealed:
            _reseal(directory)
        case = f"{mutation.__name__} of {path.name} of {name}, number {number} of seed {seed}"
        warned: list[str] = []
        fresh = dataclasses.replace(empty, replay=copy.deepcopy(empty.replay))
        found = attempt(
            lambda fresh=fresh, warned=warned: Checkpoints(directory).load(fresh, about, warned.append), case
        )
        same = found is not None and _leaves(found) == original
        assert found is None or same or sealed, f"{case} loads as another state"
        assert found is None or _shapes(found) == _shapes(state), f"{case} has other shapes"
        assert found is not None or not (directory / "generation-00000003.json").exists() or warned or sealed, case
        outcomes["refused" if found is None else "same" if same else "other, resealed"] += 1
        path.write_bytes(whole[path])
        for changed, content in whole.items():
            if sealed:
                changed.write_bytes(content)
    return outcomes


def _arrays(state: State) -> list[np.ndarray]:
    replay = state.replay.arrays
    return [np.asarray(leaf) for leaf in jax.tree.leaves((vars(state.archive), replay, state.learned, state.search))]


def _leaves(state: State) -> list[Any]:
    """Everything; of the replay buffer what was inserted, since the rest is never looked at."""
    size = state.replay.size
    replay = [array[:size].tobytes() for array in state.replay.arrays]
    rest = jax.tree.leaves((vars(state.archive), state.learned, state.novelty, state.search))
    counts = (state.generation, state.evaluations, state.environment_steps, state.invalid, size)
    return [counts, replay, *(np.asarray(leaf).tobytes() for leaf in rest)]


def _shapes(state: State) -> list[Any]:
    return [(array.dtype, array.shape) for array in _arrays(state) if array.dtype != np.int64]


def _reseal(directory: Path) -> None:
    """Make the checksums fit, where the description can still be read."""
    path = directory / "generation-00000003.json"
    try:
        content = json.loads(path.read_bytes())
        content.pop("checksum", None)
        for name in content["files"]:
            content["files"][name] = hashlib.sha256((directory / name).read_bytes()).hexdigest()
        content["checksum"] = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return
    path.write_text(json.dumps(content))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    signal.signal(signal.SIGALRM, _alarm)
    half, quarter = arguments.files // 2, arguments.files // 4
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as directory:
        signal.alarm(3600)
        for what, damage in (
            ("repertoires", lambda path: repertoires(path, half, arguments.seed)),
            ("checkpoints of dcrl_me", lambda path: checkpoints(path / "a", "dcrl_me", quarter, arguments.seed)),
            ("checkpoints of me_es", lambda path: checkpoints(path / "b", "me_es", quarter, arguments.seed)),
        ):
            outcomes = damage(Path(directory))
            counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
            print(f"{sum(outcomes.values()):,} {what}: {counts}", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"seed {arguments.seed}, peak memory {peak / GIB:.2f} GiB, {time.monotonic() - begin:.0f} s")
    return int(peak > 2 * GIB)


if __name__ == "__main__":
    sys.exit(main())
