"""What an algorithm asks for: one episode of each of some policies. The evaluations are what it is then told."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from dcrl import keys
from dcrl.algorithms.state import State
from dcrl.simulators.rollouts import bounded
from dcrl.types import Descriptor, Evaluation, Floats, Ints


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Policies to evaluate in one episode each, and the state that their evaluations are added to."""

    genotype: Floats  # (B, P) float32
    target: Floats  # (B, D) d' of each, a row of NaN for the descriptor that it achieves
    starts: jax.Array  # (B,) keys of the episodes' start states
    record: bool  # whether the evaluations must have transitions
    state: State  # after this generation's training
    seed: int  # of the run

    @property
    def seeds(self) -> Ints:
        """(B,) uint32, one per episode, for simulators that take a number as seed."""
        return np.asarray(jax.vmap(jax.random.bits)(self.starts))

    def checked(self, evaluations: Sequence[Evaluation], space: Descriptor) -> list[Evaluation]:
        """The evaluations, which may come in any number of consecutive parts; descriptors within bounds."""
        expected, found = len(self.genotype), sum(len(evaluation.fitness) for evaluation in evaluations)
        if found != expected:
            raise ValueError(f"{expected} policies were asked for, one episode each, got the evaluations of {found}")
        for evaluation in evaluations:
            self._check(evaluation, space)
        return [dataclasses.replace(each, descriptor=bounded(each.descriptor, space)) for each in evaluations]

    def _check(self, evaluation: Evaluation, space: Descriptor) -> None:
        count = len(evaluation.fitness)
        shapes = {"fitness": (count,), "descriptor": (count, space.size), "steps": (count,), "valid": (count,)}
        for name, shape in shapes.items():
            if np.shape(getattr(evaluation, name)) != shape:
                got = np.shape(getattr(evaluation, name))
                raise ValueError(f"the {name} of {count} episodes must be an array of shape {shape}, got {got}")
        numbers = np.column_stack([evaluation.fitness, evaluation.descriptor])[evaluation.valid]
        if not np.isfinite(numbers).all():
            raise ValueError("a valid episode has a finite fitness and descriptor; set `valid` to False for the others")
        if self.record and evaluation.transitions is None:
            raise ValueError("this algorithm learns from transitions: give the evaluations with them")


def join(parts: Sequence[Asked], state: State) -> Asked:
    """Parts of what a generation asks for, in order, for one state."""
    return dataclasses.replace(
        parts[0],
        genotype=np.concatenate([part.genotype for part in parts]),
        target=np.concatenate([part.target for part in parts]),
        starts=jnp.concatenate([part.starts for part in parts]),
        state=state,
    )


def outcomes(evaluations: Sequence[Evaluation]) -> Evaluation:
    """Consecutive parts of an evaluation as one, without transitions."""
    columns = zip(*((each.fitness, each.descriptor, each.steps, each.valid) for each in evaluations), strict=True)
    fitness, descriptor, steps, valid = (np.concatenate(parts) for parts in columns)
    return Evaluation(fitness=fitness, descriptor=descriptor, steps=steps, valid=valid)


def key_of(state: State, seed: int) -> jax.Array:
    """The key of the generation that `state` has reached."""
    return keys.generation(keys.root(seed), state.generation)
