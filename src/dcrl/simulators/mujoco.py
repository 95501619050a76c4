"""The `mujoco` simulator: C physics on all cores, policies in NumPy.

A few workers each hold a batch of slots. A slot plays one episode; when it ends, the next policy takes
the slot, so no time is spent on ended episodes and Python's overhead is shared by many. Physics and
matrix products both release the GIL, so the workers overlap.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from threadpoolctl import ThreadpoolController

from dcrl.devices import cores
from dcrl.hyperparameters import is_whole, plain
from dcrl.networks.policies import Layers, act_each
from dcrl.simulators.recorder import Recorder
from dcrl.simulators.simulator import Simulator, closed_error
from dcrl.simulators.stability import is_stable
from dcrl.tasks.engine import Batch, SimulationError, mujoco
from dcrl.tasks.task import Task
from dcrl.types import Bools, Evaluation, Floats, Ints, Physics

MAX_WORKERS = 4  # Python threads; further cores step physics inside each worker's batch
SLOTS_PER_THREAD = 128  # measured: docs/simulators.md
STARTS = 256  # start states computed at a time

# Positions, velocities and contacts of the new state; in a persistent batch the next step reuses them.
STAGE = int(mujoco.mjtStage.mjSTAGE_VEL)


class MujocoSimulator(Simulator):
    """Owns the worker threads and their simulations."""

    compiles = False
    overlap = True

    def __init__(self, task: Task, threads: int | None = None) -> None:
        self.task = task
        self.threads = cores() if threads is None else plain(threads)
        if not is_whole(self.threads) or self.threads < 1:
            raise ValueError(f"the number of threads must be at least 1, got {threads!r}")
        self.workers = min(self.threads, MAX_WORKERS)
        self._pool = ThreadPoolExecutor(self.workers, thread_name_prefix="dcrl-mujoco")
        self._blas = ThreadpoolController()
        self._batches: list[Batch] = []
        self._closed = False
        mujoco.set_mju_user_warning(_ignore)  # divergence is handled here, not in a log file

    def play(self, genotypes: Floats, keys: jax.Array, layers: Layers, *, record: bool) -> Evaluation:
        task, count = self.task, len(genotypes)
        if self._closed:
            raise closed_error(task.name)
        recorder = Recorder(
            count, task.horizon, task.observation_size, task.action_size, task.descriptor, record=record
        )
        qpos, qvel = start_states(task, keys)
        finite = np.isfinite(genotypes).all(axis=1)
        recorder.valid[~finite] = False
        todo = deque(np.flatnonzero(finite).tolist())
        while len(self._batches) < self.workers:
            inner = max(1, self.threads // self.workers)
            self._batches.append(Batch(task.model, SLOTS_PER_THREAD * inner, inner, persistent=True))
        with self._blas.limit(limits=1, user_api="blas"):
            share = -(-len(todo) // self.workers)  # a small batch is shared out too
            workers = [
                _Worker(task, batch, todo, genotypes, qpos, qvel, layers, recorder, share) for batch in self._batches
            ]
            for done in [self._pool.submit(worker.run) for worker in workers]:
                done.result()
        return recorder.evaluation()

    def close(self) -> None:
        self._closed = True
        self._pool.shutdown()
        self._batches.clear()


def start_states(task: Task, keys: jax.Array) -> tuple[Floats, Floats]:
    """Positions (B, nq) and velocities (B, nv), computed in chunks of one size so that one size is compiled."""
    count = len(keys)
    rows = np.arange(-(-count // STARTS))[:, None] * STARTS + np.arange(STARTS)
    numbers = np.asarray(jax.random.key_data(keys))[rows % count]
    chunks = [_compiled_start(task)(jax.random.wrap_key_data(chunk)) for chunk in numbers]
    qpos, qvel = (np.concatenate(parts).astype(np.float64)[:count] for parts in zip(*chunks, strict=True))
    for row in qpos:  # noise may leave a quaternion that is no rotation; MJX does this by itself
        mujoco.mj_normalizeQuat(task.model, row)
    return qpos, qvel


@lru_cache(maxsize=16)  # compiled code, not a simulator: compiling takes a second, once per task
def _compiled_start(task: Task) -> Callable[[jax.Array], tuple[jax.Array, jax.Array]]:
    data = mujoco.MjData(task.model)
    qpos, qvel = jnp.asarray(data.qpos), jnp.asarray(data.qvel)
    return jax.jit(jax.vmap(lambda key: task.start(key, qpos, qvel)))


class _Worker:
    """One thread's share: the first `live` rows of every array below belong to running episodes."""

    def __init__(
        self,
        task: Task,
        batch: Batch,
        todo: deque[int],
        genotypes: Floats,
        qpos: Floats,
        qvel: Floats,
        layers: Layers,
        recorder: Recorder,
        room: int,
    ) -> None:
        self.task, self.batch, self.todo, self.layers, self.recorder = task, batch, todo, layers, recorder
        self.genotypes, self.qpos, self.qvel = genotypes, qpos, qvel
        slots = batch.nsim
        self.live, self.room = 0, min(slots, room)
        self.simulation: Ints = np.arange(slots)  # which simulation of the batch a row uses
        self.stepped: Ints = self.simulation  # those of the live rows, sorted as the batch wants them
        self.episode: Ints = np.zeros(slots, np.int64)
        self.time: Ints = np.zeros(slots, np.int64)
        self.parameters = np.zeros((slots, layers.parameters), np.float32)
        self.observation = np.zeros((slots, task.observation_size), np.float32)
        self.bound = {field: batch.bind(field) for field in task.fields}
        self.control = batch.bind("ctrl")

    def run(self) -> None:
        with np.errstate(over="ignore", invalid="ignore"):  # a diverged simulation is an outcome, not a warning
            self._run()

    def _run(self) -> None:
        changed = True
        while True:
            if self.todo and self.live < self.room:
                self._admit()
                changed = True
            if not self.live:
                return
            if changed:
                self.stepped = np.sort(self.simulation[: self.live])
                before = self._read(self.live)
                weights = self.layers.split(self.parameters[: self.live])
            changed, before = self._step(before, weights)

    def _admit(self) -> None:
        """Fill free rows with the next policies and put their robots at the start."""
        first = self.live
        while self.live < self.room:
            try:
                following = self.todo.popleft()
            except IndexError:  # another worker took the last one
                break
            self.episode[self.live] = following
            self.parameters[self.live] = self.genotypes[following]
            self.live += 1
        if first == self.live:
            return
        rows = slice(first, self.live)
        ids, episode = self.simulation[rows], self.episode[rows]
        self.time[rows] = 0
        self.batch.reset(np.sort(ids), stage=int(mujoco.mjtStage.mjSTAGE_NONE))
        self.bound["qpos"][ids] = self.qpos[episode]
        self.bound["qvel"][ids] = self.qvel[episode]
        with suppress(SimulationError):  # it also fails at its first step, and is then invalid
            self.batch.forward(np.sort(ids), STAGE)
        physics = self._read(self.live)
        self.observation[rows] = self.task.observe(physics)[rows]
        self.recorder.begin(episode, self.observation[rows], self.task.step_descriptor(physics)[rows])

    def _read(self, live: int) -> Physics:
        ids = self.simulation[:live]
        fields = {name: values[ids] for name, values in self.bound.items()}
        remaining = (self.task.horizon - self.time[:live]) / self.task.horizon
        return Physics(np, self.task.integration.period, remaining, fields)

    def _step(self, before: Physics, weights: list[tuple[Floats, Floats]]) -> tuple[bool, Physics]:
        """One control step of every live episode; returns whether an episode ended, and the state after."""
        task, live = self.task, self.live
        ids, episode, time = self.simulation[:live], self.episode[:live], self.time[:live]
        action = act_each(weights, self.observation[:live])
        centre, half = task.control_range
        control = centre + half * action
        self.control[ids] = control
        failed = self._advance(ids)

        time += 1
        after = self._read(live)
        reward = task.reward(before, control, after)
        self.observation[:live] = task.observe(after)
        descriptor = task.step_descriptor(after)
        finite = is_stable(after, reward, action, self.observation[:live], descriptor) & ~failed
        ended = task.terminated(after)
        self.recorder.step(episode, time - 1, action, reward, self.observation[:live], descriptor)

        over = ended | ~finite | (time >= task.horizon)
        if not over.any():
            return False, after
        self.recorder.end(episode[over], time[over], (ended & finite)[over], finite[over])
        self._retire(np.flatnonzero(over))
        return True, after

    def _advance(self, ids: Ints) -> Bools:
        """Step physics; returns which simulations failed."""
        try:
            self.batch.step(self.stepped, self.task.integration.substeps, STAGE)
        except SimulationError as error:
            return np.isin(ids, error.ids)
        return np.zeros(len(ids), bool)

    def _retire(self, rows: Ints) -> None:
        """Move the last live rows into the places of the ended ones."""
        for row in rows[::-1]:
            self.live -= 1
            last = self.live
            if row != last:
                self.parameters[row] = self.parameters[last]
                self.observation[row] = self.observation[last]
                self.episode[row], self.time[row] = self.episode[last], self.time[last]
                self.simulation[row], self.simulation[last] = self.simulation[last], self.simulation[row]


def _ignore(message: str) -> None:
    """MuJoCo's warning handler: a diverged simulation is reported as an invalid evaluation instead."""
