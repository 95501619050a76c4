"""Workers: the same episodes in any number of processes, also when some are killed; what cannot be played is said."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import dcrl
from dcrl import simulators
from dcrl.devices import cores
from dcrl.simulators.packing import empty_evaluation, pack, unpack
from dcrl.simulators.worker_pool import WorkerPool
from dcrl.simulators.workers import HERE, Workers, WorkersConfig
from dcrl.tasks import registry
from dcrl.types import Evaluation
from support.episodes import episode_bytes, random_policies
from support.generations import ME
from support.square import task as square

SUPPORT = Path(__file__).parents[1] / "support"
SQUARE = f"{SUPPORT / 'square.py'}:task"
MOODY = f"{SUPPORT / 'moody_task.py'}"
COUNT = 41


def local(count: int) -> Workers:
    return WorkersConfig(workers=f"local:{count}").parsed(gymnasium=True)


def play(simulator: simulators.Simulator, reference: str, count: int = COUNT) -> Evaluation:
    genotypes, starts, layers = random_policies(registry.get(reference), count)
    genotypes[3] = np.nan  # an invalid policy
    return simulator.play(genotypes, starts, layers, record=True)


def outcome(evaluation: Evaluation) -> list[bytes]:
    """All valid episodes, and which they are."""
    assert np.flatnonzero(~evaluation.valid).tolist() == [3]
    assert evaluation.transitions is not None
    assert not evaluation.transitions.steps[3]
    return episode_bytes(evaluation, np.flatnonzero(evaluation.valid))


@pytest.fixture(scope="module")
def expected() -> dict[str, list[bytes]]:
    found = {}
    for reference in (SQUARE, "point_omni"):
        with simulators.make(registry.get(reference)) as simulator:
            found[reference] = outcome(play(simulator, reference))
    return found


@pytest.mark.parametrize("count", [1, 2, 7])
def test_any_number_of_processes_plays_the_same_episodes(expected, count):
    with simulators.make(square, workers=local(count), reference=SQUARE) as simulator:
        assert simulator.overlap
        for _ in range(2):  # the processes are kept
            assert outcome(play(simulator, SQUARE)) == expected[SQUARE]


def test_a_robot_can_be_played_by_processes_too(expected):
    with simulators.make(registry.get("point_omni"), workers=local(2), reference="point_omni") as simulator:
        assert outcome(play(simulator, "point_omni")) == expected["point_omni"]


def processes(simulator: simulators.Simulator) -> list[subprocess.Popen[bytes]]:
    assert isinstance(simulator, WorkerPool)
    return [worker._process for worker in simulator.workers]  # type: ignore[attr-defined]


def killing(simulator: simulators.Simulator, kills: int) -> Iterator[int]:
    """Kill the processes in turn, a moment after each other."""
    for number in range(kills):
        time.sleep(0.05)
        process = processes(simulator)[number % 2]
        process.send_signal(signal.SIGKILL)
        yield process.pid


def test_a_killed_process_costs_time_only(expected):
    with simulators.make(square, workers=local(2), reference=SQUARE) as simulator:
        play(simulator, SQUARE)
        killed: list[int] = []
        killer = threading.Thread(target=lambda: killed.extend(killing(simulator, 3)))
        killer.start()
        for _ in range(4):
            assert outcome(play(simulator, SQUARE)) == expected[SQUARE]
        killer.join()
        assert outcome(play(simulator, SQUARE)) == expected[SQUARE]
        assert len(set(killed)) >= 2
        assert not {process.pid for process in processes(simulator)} <= set(killed)
    assert all(process.poll() is not None for process in processes(simulator))


def test_processes_end_with_the_process_that_started_them():
    code = (
        "import os, signal, sys; from dcrl.simulators import make; from dcrl.simulators.workers import Workers; "
        f"sys.path.insert(0, {str(SUPPORT.parent)!r}); from support.square import task; "
        f"opened = make(task, workers=Workers(kind='local', count=2), reference={SQUARE!r}); "
        "print(*(each._process.pid for each in opened.workers), flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == -signal.SIGKILL
    workers = [int(pid) for pid in done.stdout.split()]
    deadline = time.monotonic() + 60
    while any(Path(f"/proc/{pid}").exists() for pid in workers) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)
    assert len(workers) == 2


def test_a_worker_of_an_environment_starts_without_jax_and_mujoco():
    code = (
        "import sys; from dcrl.simulators.worker import Opening, Player; "
        f"sys.path.insert(0, {str(SUPPORT.parent)!r}); "
        f"Player(Opening(reference={SQUARE!r}, simulator='gymnasium', threads=1)); "
        "print([name for name in ('jax', 'mujoco', 'matplotlib') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (
            "bound",
            "a worker process cannot open the task: RuntimeError: the device is in use; "
            "--workers local:0 plays its episodes in this process",
        ),
        ("failing", "^ZeroDivisionError: integer division or modulo by zero$"),
    ],
)
def test_what_a_process_cannot_play_is_one_sentence(monkeypatch, name, sentence):
    monkeypatch.setenv("DCRL_TESTS_OWNER", str(os.getpid()))
    reference = f"{MOODY}:{name}"
    with simulators.make(registry.get(reference), workers=local(2), reference=reference) as simulator:
        with pytest.raises(ValueError, match=sentence) as caught:
            play(simulator, reference, 8)
        assert "\n" not in str(caught.value)


def test_a_task_without_a_name_cannot_be_played_elsewhere():
    with pytest.raises(ValueError, match=r"task square: other processes find a task by its name or as file\.py:object"):
        simulators.make(square, workers=local(2))


def test_a_file_that_is_not_there_is_one_sentence(tmp_path):
    reference = f"{tmp_path / 'missing.py'}:task"
    with (
        simulators.make(square, workers=local(1), reference=reference) as simulator,
        pytest.raises(ValueError, match=r"a worker process cannot open the task: cannot read .*missing\.py"),
    ):
        play(simulator, SQUARE, 4)


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({}, HERE),
        ({"workers": "local:0"}, HERE),
        ({"workers": "local:3"}, Workers(kind="local", count=3)),
        ({"workers": "local"}, Workers(kind="local", count=cores())),
        ({"workers": "ray"}, Workers(kind="ray")),
        (
            {"workers": "ray:4", "address": "auto", "cpus_per_worker": 2},
            Workers(kind="ray", count=4, address="auto", cpus=2),
        ),
    ],
)
def test_workers_are_read_from_flags(flags, expected):
    assert WorkersConfig(**flags).parsed(gymnasium=False) == expected


def test_a_gymnasium_task_uses_all_cores_by_default():
    expected = Workers(kind="local", count=cores()) if cores() > 1 else HERE
    assert WorkersConfig().parsed(gymnasium=True) == expected


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        ({"workers": "two"}, "--workers is local:N, ray or ray:N, got 'two'"),
        ({"workers": "local:x"}, "--workers is local:N, ray or ray:N, got 'local:x'"),
        ({"workers": 2}, "--workers is local:N, ray or ray:N, got 2"),
        ({"workers": "ray:0"}, "--workers ray:N needs at least one worker"),
        ({"workers": "local:2", "address": "auto"}, "--address is for Ray workers; add --workers ray"),
        ({"cpus_per_worker": 2}, "--cpus-per-worker is for Ray workers; add --workers ray"),
        ({"workers": "ray", "cpus_per_worker": 0}, "cpus_per_worker must be a whole number of at least 1"),
    ],
)
def test_flags_that_do_not_fit_are_refused(flags, sentence):
    with pytest.raises(ValueError, match=sentence):
        WorkersConfig(**flags)


def test_only_simulated_steps_travel():
    with simulators.make(square) as simulator:
        played = play(simulator, SQUARE)
    assert played.transitions is not None
    steps = int(played.transitions.steps.sum())
    packed = pack(played)
    assert (len(packed["action"]), len(packed["observation"])) == (steps, steps + (played.transitions.steps > 0).sum())
    assert steps < played.transitions.reward.size
    again = empty_evaluation(COUNT, square, record=True)
    order = np.random.default_rng(0).permutation(COUNT)
    unpack(packed, again, order)
    rows = np.flatnonzero(played.valid)
    assert episode_bytes(again, order[rows]) == episode_bytes(played, rows)


def test_training_is_the_same_with_and_without_processes(tmp_path):
    found = {}
    for workers in (None, "local:0"):
        repertoire = dcrl.train(
            SQUARE,
            "me",
            evaluations=48,
            output=tmp_path / str(workers),
            hidden=(4,),
            hyperparameters=ME,
            workers=workers,
        )
        found[workers] = (repertoire.genotype.tobytes(), repertoire.fitness.tobytes())
    assert found[None] == found["local:0"]
