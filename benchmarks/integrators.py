"""Integrators and timesteps of each robot, measured against Gymnasium's own setting as the reference.

For every candidate: what a control step costs, how far open-loop motion strays from a fine reference, what
the same policies do, and how a small archive grows and how much of it survives in the fine reference.

    python benchmarks/integrators.py --robots walker2d_uni hopper_uni --json out.json
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np
import tyro
from mujoco.batch import Batch

import dcrl
from dcrl import keys
from dcrl.networks.perceptrons import init
from dcrl.networks.policies import policy_layers
from dcrl.tasks import registry
from dcrl.tasks.task import Integration, Task

GYMNASIUM = {
    "walker2d_uni": Integration(timestep=0.002, substeps=4, integrator="RK4"),
    "hopper_uni": Integration(timestep=0.002, substeps=4, integrator="RK4"),
    "halfcheetah_uni": Integration(timestep=0.01, substeps=5, integrator="Euler"),
    "humanoid_uni": Integration(timestep=0.003, substeps=5, integrator="RK4", solver="PGS"),
    "ant_omni": Integration(timestep=0.01, substeps=5, integrator="RK4"),
}
CELLS = 32  # per dimension
OFFSPRING = 128
ISO, LINE = 0.005, 0.05
FINER = 4  # the fine reference: RK4 at Gymnasium's timestep divided by this
SEQUENCES, HELD = 64, 5  # open-loop runs, and for how many control steps each random control is held
MARKS = (5, 20, 50)  # control steps after which the open-loop error is read
REPLAYED = 32  # elites of an archive that are replayed in the fine reference


@dataclass(frozen=True, kw_only=True)
class Config:
    """What to measure, and how long."""

    robots: tuple[str, ...] = tuple(GYMNASIUM)
    """Tasks whose robots are measured."""
    horizon: int = 100
    """Control steps per episode, shorter than the tasks' own to fit more episodes."""
    generations: int = 6
    """Of 128 offspring each, after 256 random policies."""
    seeds: int = 2
    """Archives per candidate."""
    repeats: int = 7
    """Interleaved timings per candidate."""
    json: Path | None = None
    """Where to write the numbers besides the table."""


def candidates(reference: Integration) -> dict[str, Integration]:
    """Gymnasium's own first; the substeps of all of them make the same control period."""
    period, n = reference.period, reference.substeps

    def at(integrator: str, substeps: int) -> Integration:
        return Integration(timestep=period / substeps, substeps=substeps, integrator=integrator)  # type: ignore[arg-type]

    listed = [reference, at("Euler", n), *(at("implicitfast", m) for m in (2 * n, n, -(-n // 2)))]
    return {label(integration): integration for integration in listed}


def label(integration: Integration) -> str:
    solver = "" if integration.solver == "Newton" else f" {integration.solver}"
    return f"{integration.integrator}{solver} {integration.timestep:.3g} s x {integration.substeps}"


def open_loop(task: Task, batch: Batch) -> tuple[float, np.ndarray]:
    """Seconds per control step, and qpos (marks, sequences, nq), under random controls without a policy."""
    noise = np.random.default_rng(0).uniform(-1, 1, (MARKS[-1] // HELD, SEQUENCES, task.action_size))
    centre, half = task.control_range
    control, qpos, ids = batch.bind("ctrl"), batch.bind("qpos"), np.arange(SEQUENCES)
    batch.reset()
    rows, began = [], time.perf_counter()
    for step in range(1, MARKS[-1] + 1):
        control[:] = centre + half * noise[(step - 1) // HELD]
        batch.step(ids, task.integration.substeps)
        if step in MARKS:
            rows.append(np.array(qpos))
    return (time.perf_counter() - began) / (MARKS[-1] * SEQUENCES), np.stack(rows)


def play(task: Task, genotypes: np.ndarray, seed: int) -> tuple[dcrl.Evaluation, float]:
    """The evaluation, and the greatest torso height (m) of any episode (half cheetah: minus 0.7 m)."""
    out = dcrl.rollout(task, genotypes, seed)
    assert out.transitions is not None
    height = next(i for i, label in enumerate(task.observations) if label.startswith("torso z"))
    z = out.transitions.observation[:, 1:, height]
    simulated = out.transitions.simulated & out.valid[:, None]
    return out, float(z[simulated].max(initial=0))


def random_policies(task: Task, count: int, seed: int) -> np.ndarray:
    layers = policy_layers(task.observation_size, task.action_size)
    return np.asarray(jax.vmap(partial(init, layers))(keys.each(keys.root(seed), count)))


def cells(task: Task, descriptor: np.ndarray) -> np.ndarray:
    low, high = np.array(task.descriptor.low), np.array(task.descriptor.high)
    place = np.clip(((descriptor - low) / (high - low) * CELLS).astype(int), 0, CELLS - 1)
    return place @ CELLS ** np.arange(task.descriptor.size)


def grow(task: Task, generations: int, seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    """MAP-Elites with iso+line on a grid: elites (n, P), their fitness (n,), greatest torso height."""
    rng = np.random.default_rng(seed)
    size = CELLS**task.descriptor.size
    fitness, elites, tallest = np.full(size, -np.inf), None, 0.0
    offspring = random_policies(task, 2 * OFFSPRING, seed)
    for _ in range(generations + 1):
        out, height = play(task, offspring, seed)
        tallest = max(tallest, height)
        elites = np.zeros((size, offspring.shape[1]), np.float32) if elites is None else elites
        for row in np.flatnonzero(out.valid):
            cell = cells(task, out.descriptor[row])
            if out.fitness[row] > fitness[cell]:
                fitness[cell], elites[cell] = out.fitness[row], offspring[row]
        first, second = rng.choice(np.flatnonzero(np.isfinite(fitness)), (2, OFFSPRING))
        iso = ISO * rng.standard_normal((OFFSPRING, offspring.shape[1]))
        offspring = elites[first] + iso + LINE * rng.standard_normal((OFFSPRING, 1)) * (elites[second] - elites[first])
    assert elites is not None
    occupied = np.isfinite(fitness)
    return elites[occupied], fitness[occupied], tallest


@dataclass(frozen=True, kw_only=True)
class Row:
    """One candidate; lists hold one number per mark or seed."""

    robot: str
    setting: str
    microseconds: float  # per control step of one simulation, on all cores
    cost: float  # the same as a ratio to the reference
    error: list[float]  # median over sequences of the mean |qpos - fine|, rad and m
    steps: float  # of random policies, the mean
    fitness: float  # of random policies, the mean
    cells: int  # that random policies reach
    height: float  # m, the greatest of any episode
    invalid: int
    coverage: list[float]  # of the archives
    qd_score: list[float]
    kept: list[float]  # fitness of some elites in the fine reference / in their own physics


def measure(task: Task, reference: Integration, config: Config) -> Iterator[Row]:
    task = dataclasses.replace(task, horizon=config.horizon)
    finer = Integration(timestep=reference.timestep / FINER, substeps=reference.substeps * FINER, integrator="RK4")
    fine = dataclasses.replace(task, integration=finer)
    tasks = {name: dataclasses.replace(task, integration=how) for name, how in candidates(reference).items()}
    batches = {name: Batch(each.model, SEQUENCES, persistent=True) for name, each in tasks.items()}
    timings: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(config.repeats):
        for name, each in tasks.items():
            timings[name].append(open_loop(each, batches[name])[0])
    paths = {name: open_loop(each, batches[name])[1] for name, each in tasks.items()}
    truth = open_loop(fine, Batch(fine.model, SEQUENCES, persistent=True))[1]
    rows: list[Row] = []
    for name, each in tasks.items():
        measured = {
            "setting": name,
            "microseconds": float(np.median(timings[name]) * 1e6),
            "cost": float(np.median(np.array(timings[name]) / timings[label(reference)])),
        }
        twin = next((row for row in rows if np.array_equal(paths[row.setting], paths[name])), None)
        if twin is None:
            error = np.median(np.abs(paths[name] - truth).mean(axis=-1), axis=-1)
            twin = Row(robot=task.name, error=error.tolist(), **measured, **behaviour(each, fine, config))
        rows.append(dataclasses.replace(twin, **measured))
        yield rows[-1]


def behaviour(task: Task, fine: Task, config: Config) -> dict[str, Any]:
    """Results of random policies, and of archives."""
    out, tallest = play(task, random_policies(task, 2 * OFFSPRING, 1000), 0)
    coverage, qd_score, kept = [], [], []
    for seed in range(config.seeds):
        elites, fitness, height = grow(task, config.generations, seed)
        some = np.random.default_rng(seed).permutation(len(elites))[:REPLAYED]
        kept.append(float(np.nansum(play(fine, elites[some], seed)[0].fitness) / fitness[some].sum()))
        coverage.append(len(fitness) / CELLS**task.descriptor.size)
        qd_score.append(float(fitness.sum()))
        tallest = max(tallest, height)
    return {
        "steps": float(out.steps.mean()),
        "fitness": float(np.nanmean(out.fitness)),
        "cells": len(set(cells(task, out.descriptor[out.valid]).tolist())),
        "height": tallest,
        "invalid": int((~out.valid).sum()),
        "coverage": coverage,
        "qd_score": qd_score,
        "kept": kept,
    }


HEADER = (
    *("robot", "setting", "µs", "cost", f"error at {', '.join(map(str, MARKS))} steps", "steps", "fitness", "cells"),
    *("height", "invalid", "coverage", "QD score", "kept"),
)


def line(row: Row) -> tuple[str, ...]:
    def several(values: list[float], form: str) -> str:
        return ", ".join(format(value, form) for value in values)

    return (
        *(row.robot, row.setting, f"{row.microseconds:.0f}", f"{row.cost:.2f}", several(row.error, ".4f")),
        *(f"{row.steps:.1f}", f"{row.fitness:.1f}", str(row.cells), f"{row.height:.2f}", str(row.invalid)),
        *(several(row.coverage, ".3f"), several(row.qd_score, ".0f"), several(row.kept, ".2f")),
    )


def main(config: Config) -> None:
    for text in (HEADER, ("---",) * len(HEADER)):
        print("|", " | ".join(text), "|", flush=True)
    rows = []
    for name in config.robots:
        for row in measure(registry.get(name), GYMNASIUM[name], config):
            print("|", " | ".join(line(row)), "|", flush=True)
            rows.append(row)
    if config.json:
        config.json.write_text(json.dumps([dataclasses.asdict(row) for row in rows], indent=2))


if __name__ == "__main__":
    main(tyro.cli(Config))
