"""The `gymnasium` simulator: any registered environment, on Gymnasium's own vector API.

A vector environment is a row of slots. A slot plays one episode; when it ends, the next policy takes the
slot. Gymnasium's automatic resets are off: an ended slot is reset here, with the seed of its next episode,
so that an episode depends on its genotype and its key alone. When no policy is left, a free slot still
steps with the others, because the vector API steps them all; it is reset whenever it ends and what it
does is ignored.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium.vector import SyncVectorEnv

from dcrl.networks.policies import Layers, act_each
from dcrl.simulators.recorder import Recorder
from dcrl.simulators.simulator import Simulator, closed_error
from dcrl.tasks.gymnasium import GymnasiumTask
from dcrl.types import Array, Bools, Evaluation, Floats, Ints

if TYPE_CHECKING:  # a worker process starts without JAX
    import jax

SLOTS = 32  # enough to share NumPy's overhead, few enough to be made quickly
FREE = -1  # the episode of a slot that plays none
OVERFLOW: dict[str, Any] = {"over": "ignore", "invalid": "ignore"}  # what overflows becomes an invalid evaluation


class GymnasiumSimulator(Simulator):
    """Owns the environments."""

    compiles = False
    overlap = False  # environments may be bound to the thread that created them

    def __init__(self, task: GymnasiumTask) -> None:
        self.task = task
        self._environments: SyncVectorEnv[Any, Any] | None = None
        self._closed = False

    def play(self, genotypes: Floats, keys: jax.Array, layers: Layers, *, record: bool) -> Evaluation:
        return self.play_from(genotypes, seeds_of(keys), layers, record=record)

    def play_from(self, genotypes: Floats, seeds: Ints, layers: Layers, *, record: bool) -> Evaluation:
        """Play one episode of each policy (B, P) from the start that its seed (B,) gives."""
        task = self.task
        if self._closed:
            raise closed_error(task.name)
        recorder = Recorder(
            len(genotypes), task.horizon, task.observation_size, task.action_size, task.descriptor, record=record
        )
        finite = np.isfinite(genotypes).all(axis=1)
        recorder.valid[~finite] = False
        todo = deque(np.flatnonzero(finite).tolist())
        if todo:
            environments = self._vector(min(len(todo), SLOTS))
            for _ in _Slots(task, environments, todo, genotypes, seeds, layers, recorder).run():
                pass
        with np.errstate(**OVERFLOW):
            return recorder.evaluation()

    def close(self) -> None:
        self._closed = True
        self._free()

    def _vector(self, count: int) -> SyncVectorEnv[Any, Any]:
        """A vector environment of `count` slots, kept for the next batch of that size."""
        if self._environments is None or self._environments.num_envs != count:
            self._free()
            self._environments = self.task.make(count)
        return self._environments

    def _free(self) -> None:
        if self._environments is not None:
            self._environments.close()
        self._environments = None


def play_one(
    task: GymnasiumTask, environments: SyncVectorEnv[Any, Any], genotypes: Floats, keys: jax.Array, layers: Layers
) -> Iterator[Recorder]:
    """Play one episode of the only policy (1, P) in the only one of `environments`, from the start its key gives.

    Yields at the start and after every step, always the same recorder, with what has happened so far. The start's
    step descriptor is NaN at first if the environment gives it with the first step only.
    """
    recorder = Recorder(1, task.horizon, task.observation_size, task.action_size, task.descriptor, record=True)
    recorder.begin(np.zeros(1, int), np.full(task.observation_size, np.nan), np.full(task.descriptor.size, np.nan))
    for _ in _Slots(task, environments, deque([0]), genotypes, seeds_of(keys), layers, recorder).run():
        yield recorder


class _Slots:
    """The episodes under way, one row per slot in every array below."""

    def __init__(
        self,
        task: GymnasiumTask,
        environments: SyncVectorEnv[Any, Any],
        todo: deque[int],
        genotypes: Floats,
        seeds: Ints,
        layers: Layers,
        recorder: Recorder,
    ) -> None:
        self.task, self.environments, self.todo, self.recorder = task, environments, todo, recorder
        self.genotypes, self.seeds = genotypes, seeds
        slots = environments.num_envs
        self.episode: Ints = np.full(slots, FREE)
        self.time: Ints = np.zeros(slots, np.int64)
        self.begun: Bools = np.zeros(slots, bool)  # whether the start state is recorded yet
        self.parameters = np.zeros((slots, layers.parameters), np.float32)
        self.weights = layers.split(self.parameters)  # views, so they follow
        self.observation = np.zeros((slots, task.observation_size), np.float32)
        space = task.spaces[1]
        low, high = space.low.astype(np.float64), space.high.astype(np.float64)
        self.space, self.centre, self.half = space, (low + high) / 2, (high - low) / 2

    def run(self) -> Iterator[None]:
        """Play until no policy is left; yields when all environments are reset and after every step."""
        self._reset(np.ones(len(self.episode), bool))
        yield
        while (self.episode != FREE).any():
            over = self._step()
            yield
            if over.any():
                self._reset(over)

    @np.errstate(**OVERFLOW)
    def _reset(self, over: Bools) -> None:
        """Give ended slots the next policies, or none, and reset their environments."""
        seeds: list[int | None] = [None] * len(over)
        for slot in np.flatnonzero(over):
            following = self.todo.popleft() if self.todo else FREE
            self.episode[slot] = following
            if following != FREE:
                self.parameters[slot] = self.genotypes[following]
                seeds[slot] = int(self.seeds[following])
        self.time[over] = 0
        self.begun[over] = False
        if (self.episode == FREE).all():
            return
        observation, infos = self.environments.reset(seed=seeds, options={"reset_mask": over.copy()})
        self.observation = _flat(observation)
        rows = np.flatnonzero(over & (self.episode != FREE))
        if not len(rows):
            return
        try:
            descriptor = self._descriptor(self.observation, infos, rows)
        except KeyError:  # an entry that comes with the first step
            return
        self.recorder.begin(self.episode[rows], self.observation[rows], descriptor)
        self.begun[rows] = True

    @np.errstate(**OVERFLOW)
    def _step(self) -> Bools:
        """One step of every environment; which slots must be reset."""
        rows = np.flatnonzero(self.episode != FREE)
        action = act_each(self.weights, self.observation)
        sane: Bools = np.asarray(np.isfinite(action).all(axis=1))
        observation, reward, terminated, truncated, infos = self.environments.step(
            self._control(np.where(sane[:, None], action, 0))
        )
        before, self.observation = self.observation, _flat(observation)
        self.time += 1
        over: Bools = terminated | truncated

        episode, time, after = self.episode[rows], self.time[rows], self.observation[rows]
        rewards = np.asarray(self.task.reward(reward[rows]))
        self._check("reward", rewards, (len(rows),))
        try:
            descriptor = self._descriptor(self.observation, infos, rows)
        except KeyError as error:
            raise ValueError(
                f"task {self.task.name}: the step descriptor needs the info entry {error}, which "
                f"{self.task.environment} does not give after every step; "
                f"it gives {', '.join(key for key in infos if not key.startswith('_')) or 'none'}"
            ) from None
        fresh = ~self.begun[rows]
        if fresh.any():
            self.recorder.begin(episode[fresh], before[rows][fresh], descriptor[fresh])
            self.begun[rows] = True
        self.recorder.step(episode, time - 1, action[rows], rewards, after, descriptor)

        numbers = np.concatenate([after, rewards[:, None], descriptor], axis=1).astype(np.float32)
        finite: Bools = np.isfinite(numbers).all(axis=1) & sane[rows]
        ended = over[rows] | ~finite | (time >= self.task.horizon)
        over[rows] = ended
        self.recorder.end(episode[ended], time[ended], (terminated[rows] & finite)[ended], finite[ended])
        return over

    def _control(self, action: Floats) -> Floats:
        """Actions in [-1, 1] as actions of the environment."""
        scaled = self.centre + self.half * action.reshape(-1, *self.space.shape)
        control: Floats = scaled.astype(self.space.dtype)
        return np.clip(control, self.space.low, self.space.high)

    def _descriptor(self, observation: Floats, infos: Mapping[str, Any], rows: Ints) -> Floats:
        descriptor: Floats = np.asarray(self.task.step_descriptor(observation[rows], _only(infos, rows)))
        self._check("step_descriptor", descriptor, (len(rows), self.task.descriptor.size))
        return descriptor

    def _check(self, name: str, values: Array, shape: tuple[int, ...]) -> None:
        if values.shape != shape:
            raise ValueError(
                f"task {self.task.name}: {name} must return an array of shape {shape}, one row per environment, "
                f"got {values.shape}"
            )


def seeds_of(keys: jax.Array) -> Ints:
    """(B,) uint32, what the environments are reset with."""
    import jax

    return np.asarray(jax.vmap(jax.random.bits)(keys))


def _flat(observation: Array) -> Floats:
    return np.asarray(observation, np.float32).reshape(len(observation), -1)


def _only(infos: Mapping[str, Any], rows: Ints) -> dict[str, Any]:
    """The vector API's infos of some slots; they nest where an environment's info does."""
    return {key: _only(value, rows) if isinstance(value, Mapping) else value[rows] for key, value in infos.items()}
