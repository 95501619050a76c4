"""Checks on a few whole episodes of the policies that training begins with, played by the task's simulator."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from dcrl import simulators
from dcrl.check.exploration import explored, listed
from dcrl.check.findings import FaultError, Finding, Note, find
from dcrl.networks.perceptrons import initial_policies
from dcrl.networks.policies import policy_layers
from dcrl.simulators.rollouts import start_keys
from dcrl.tasks.registry import AnyTask
from dcrl.types import Evaluation, Transitions

POLICIES = 8
PARTS = (slice(0, 5), slice(3, 8))  # of the batch: other neighbours, and simulators compile no further batch size


def check_episodes(findings: list[Finding], task: AnyTask) -> None:
    """Play initial policies from start states of their own: once, once more, and in parts."""
    layers = policy_layers(task.observation_size, task.action_size)
    genotypes = initial_policies(layers, 0, POLICIES)
    starts = start_keys(range(POLICIES), POLICIES)
    played: list[Evaluation] = []

    def play(part: slice) -> Evaluation:
        return simulator.play(genotypes[part], starts[part], layers, record=True)

    def determinism() -> str:
        difference = _difference(played[0], play(slice(None)))
        if difference:
            raise FaultError(
                f"the same policies with the same seeds gave a different {difference}; does a function use randomness "
                "or hidden state?"
            )
        for part in PARTS:
            difference = _difference(_rows(played[0], part), play(part))
            if difference:
                raise FaultError(
                    f"a policy's {difference} changed with the others in the batch; functions must treat states "
                    "independently"
                )
        return f"{POLICIES} policies gave the same bytes when played twice, and in smaller batches"

    def episodes() -> str | Note:
        played.append(play(slice(None)))
        return _validity(played[0])

    with simulators.make(task) as simulator:
        if find(findings, "episodes", episodes):
            find(findings, "rewards", lambda: _rewards(played[0]))
            if find(findings, "descriptors", lambda: _descriptors(played[0], task)):
                find(findings, "exploration", lambda: explored(task, simulator))
            find(findings, "termination", lambda: _termination(played[0], task.horizon))
            find(findings, "determinism", determinism)


def _validity(played: Evaluation) -> str | Note:
    valid = int(played.valid.sum())
    if not valid:
        raise FaultError(
            f"all {POLICIES} episodes are invalid: physics diverged, or an observation or reward was not finite"
        )
    if valid < POLICIES:
        return Note(f"{POLICIES - valid} of {POLICIES} episodes are invalid: they diverged and cannot enter an archive")
    return f"{POLICIES} policies simulated for {played.steps.sum():,} steps, all finite"


def _rewards(played: Evaluation) -> str:
    transitions = _transitions(played)
    reward = np.where(transitions.simulated & played.valid[:, None], transitions.reward, 0)
    if reward.min() < 0:
        policy, step = np.argwhere(reward < 0)[0]
        raise FaultError(
            f"reward must never be negative, but was {reward[policy, step]:g} at step {step} of policy {policy}; "
            "add an offset or clip it at 0, otherwise an early end would pay"
        )
    simulated = reward[transitions.simulated & played.valid[:, None]]
    return f"rewards from {simulated.min():.3g} to {simulated.max():.3g}, never negative"


def _descriptors(played: Evaluation, task: AnyTask) -> str | Note:
    space, values = task.descriptor, played.descriptor[played.valid]
    if not np.isfinite(values).all():
        raise FaultError("step_descriptor returns NaN or infinity during an episode")
    low, high = np.asarray(space.low), np.asarray(space.high)
    outside = (values < low - 1e-6) | (values > high + 1e-6)
    if outside.any() and not space.clip:
        policy, column = np.argwhere(outside)[0]
        raise FaultError(
            f"descriptor '{space.names[column]}' must lie in [{low[column]:g}, {high[column]:g}], but an initial "
            f"policy measured {values[policy, column]:g}; widen the bounds or set `clip=True`"
        )
    if outside.any():
        return Note(
            f"{outside.any(axis=1).mean():.0%} of the initial policies leave the descriptor's bounds and are clipped"
        )
    return f"descriptors from {listed(values.min(axis=0))} to {listed(values.max(axis=0))}, within bounds"


def _termination(played: Evaluation, horizon: int) -> str | Note:
    transitions = _transitions(played)
    fell, steps = transitions.terminated, played.steps
    if fell.all() and steps.max() == 1 < horizon:
        raise FaultError("every episode terminates at its first step, so nothing can be learned")
    early = ~fell & played.valid & (steps != horizon)
    if early.any():
        return Note(f"an episode was truncated after {steps[early][0]} of {horizon} steps by the environment itself")
    shortest = f", the first after {steps[fell].min()} steps" if fell.any() else ""
    full = int((steps == horizon).sum())
    return f"{fell.sum()} of {POLICIES} episodes terminated{shortest}; {full} lasted all {horizon} steps"


def _transitions(played: Evaluation) -> Transitions:
    assert played.transitions is not None  # all episodes here are recorded
    return played.transitions


def _rows(played: Evaluation, rows: slice) -> Evaluation:
    transitions = _transitions(played)
    part = Transitions(**{field.name: getattr(transitions, field.name)[rows] for field in fields(transitions)})
    return Evaluation(
        fitness=played.fitness[rows],
        descriptor=played.descriptor[rows],
        steps=played.steps[rows],
        valid=played.valid[rows],
        transitions=part,
    )


def _difference(one: Evaluation, other: Evaluation) -> str | None:
    """What differs first between two evaluations of the same policies, byte for byte."""
    for name in ("steps", "valid", "fitness", "descriptor"):
        if getattr(one, name).tobytes() != getattr(other, name).tobytes():
            return "number of steps" if name == "steps" else name
    first, second = _transitions(one), _transitions(other)
    simulated = first.simulated
    for name in ("observation", "action", "reward", "state_descriptor"):
        rows = [getattr(transitions, name)[:, -simulated.shape[1] :][simulated] for transitions in (first, second)]
        if rows[0].tobytes() != rows[1].tobytes():
            return name.replace("_", " ")
    return None
