"""A damaged robot finds another gait in its repertoire within a few trials.

    dcrl train hexapod_uni --algorithm me --iso-sigma 0.02 --evaluations 20000
    python examples/damage_recovery.py runs/hexapod_uni/me/seed-0

The stored fitness of the elites is the prior mean of a Gaussian process over descriptors. Each trial on the damaged
robot updates the posterior, and the next trial is the elite with the highest upper confidence bound (Cully et al.,
Robots that can adapt like animals, Nature 2015).
"""

import argparse
import dataclasses
import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import wilcoxon
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

import dcrl
from dcrl.tasks import registry
from dcrl.tasks.hexapod import LEGS

LENGTH_SCALE = 0.4  # of the kernel, relative to the descriptor's range
NOISE = 0.1  # of a trial, relative to the standard deviation of the stored fitness
KAPPA = 0.5  # weight of the standard deviation in the upper confidence bound
STOP = 0.9  # of the highest posterior mean
EPISODES = 16  # that fitness is averaged over when policies are compared
CANDIDATES = 8  # elites that are re-evaluated to find the best one

HEXAPOD = (
    *(f"no {leg}" for leg in LEGS),
    "no left_front, no right_rear",
    "no left_middle, no right_middle",
    "dead right_front_femur, dead right_front_tibia",
    "dead left_middle_coxa, dead right_middle_coxa, dead left_rear_coxa",
)


def damages_of(task):
    """The ten damages of the hexapod; on another robot, each motor dead in turn."""
    return HEXAPOD if task.name == "hexapod_uni" else tuple(f"dead {motor}" for motor in task.actions)


def damaged(task, damage):
    """The task with a damage such as "no left_front, dead right_rear_tibia".

    A missing leg keeps its joints, so that observations and actions keep their sizes, but weighs 1 g per segment,
    touches nothing and has no motors.
    """
    parts = [part.split() for part in damage.split(",")]
    known = {"dead": task.actions, "no": tuple(LEGS) if task.name == "hexapod_uni" else ()}
    for part in parts:
        if len(part) != 2 or part[0] not in known or part[1] not in known[part[0]]:
            listed = "; ".join(f"{kind} {' | '.join(names)}" for kind, names in known.items() if names)
            raise SystemExit(f"{task.name} has no damage {' '.join(part)!r}; choose from: {listed}")

    def robot():
        spec = task.robot()
        for kind, name in parts:
            for motor in spec.actuators:
                if motor.name == name or (kind == "no" and motor.name.startswith(name)):
                    motor.gainprm, motor.biasprm, motor.gear = [0.0] * 10, [0.0] * 10, [0.0] * 6
            for geom in spec.geoms:
                if kind == "no" and geom.name.startswith(name):
                    geom.mass, geom.contype, geom.conaffinity, geom.rgba = 0.001, 0, 0, [0, 0, 0, 0]
        return spec

    name = f"{task.name}+{damage.replace(', ', '+').replace(' ', '_')}"[:100]  # as names of tasks are written
    return dataclasses.replace(task, name=name, robot=robot)


def evaluate(task, repertoire, cells, seeds):
    """Fitness of one episode of each cell's elite; 0 where the simulation diverged."""
    hidden = repertoire.layers.sizes[1:-1]
    fitness = dcrl.rollout(task, repertoire.genotype[cells], seed=seeds, hidden=hidden, record=False).fitness
    return np.nan_to_num(fitness)


def mean_fitness(task, repertoire, cells):
    """(cells,): the mean of EPISODES episodes of each, from starts that no trial used."""
    seeds = np.tile(np.arange(EPISODES), len(cells))
    return evaluate(task, repertoire, np.repeat(cells, EPISODES), seeds).reshape(len(cells), EPISODES).mean(axis=1)


def best_of(task, repertoire, cells, fitness):
    """The cell with the highest mean fitness among those with the highest fitness, and that mean."""
    candidates = cells[np.argsort(fitness)[-CANDIDATES:]]
    means = mean_fitness(task, repertoire, candidates)
    return int(candidates[means.argmax()]), float(means.max())


def adapt(task, repertoire, trials):
    """The cells tried on the damaged robot, in order, and their fitness there."""
    cells = np.flatnonzero(repertoire.occupied)
    low, high = np.asarray(repertoire.space.low), np.asarray(repertoire.space.high)
    where = (repertoire.descriptor[cells] - low) / (high - low)
    prior, spread = repertoire.fitness[cells], repertoire.fitness[cells].std()
    tried, scores = [], []
    for trial in range(trials):
        mean, deviation = np.zeros(len(cells)), np.ones(len(cells))
        if tried:
            kernel = ConstantKernel(1.0, "fixed") * Matern(LENGTH_SCALE, "fixed", nu=2.5)
            process = GaussianProcessRegressor(kernel, alpha=NOISE**2, optimizer=None)
            process.fit(where[tried], (np.array(scores) - prior[tried]) / spread)
            mean, deviation = process.predict(where, return_std=True)
        posterior = prior + spread * mean
        if tried and max(scores) >= STOP * posterior.max():
            break
        chosen = int(np.argmax(posterior + KAPPA * spread * deviation))
        tried.append(chosen)
        scores.append(float(evaluate(task, repertoire, cells[[chosen]], [1000 + trial])[0]))
    return cells[tried], np.array(scores)


def recover(task, repertoire, single, trials):
    """One damage: the fitness of the best single policy, of the elite that the trials chose and of the best elite."""
    cells = np.flatnonzero(repertoire.occupied)
    tried, scores = adapt(task, repertoire, trials)
    chosen = int(tried[scores.argmax()])
    every = evaluate(task, repertoire, cells, [2000] * len(cells))
    before, after = mean_fitness(task, repertoire, np.array([single, chosen]))
    best = max(best_of(task, repertoire, cells, every)[1], before, after)
    return {"single policy": float(before), "chosen": float(after), "best elite": float(best), "trials": len(tried)}


def summary(rows):
    """The statistics over the damages, in words."""
    single, chosen, best, trials = (
        np.array([row[name] for row in rows.values()]) for name in ("single policy", "chosen", "best elite", "trials")
    )
    low, median, high = np.percentile(trials, [25, 50, 75])
    lines = [
        f"trials: median {median:.0f}, quartiles {low:.0f} and {high:.0f}",
        f"mean fitness: single policy {single.mean():.0f}, chosen elite {chosen.mean():.0f}, best {best.mean():.0f}",
        f"the chosen elite is better than the single policy for {(chosen > single).sum()} of {len(rows)} damages",
    ]
    if (chosen != single).any():
        lines.append(f"Wilcoxon signed-rank test of the pairs: p = {wilcoxon(chosen, single).pvalue:.3f}")
    return lines


def draw(rows, intact, output):
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(11, 4.5), layout="constrained", width_ratios=[2, 1], sharey=True
    )
    places = np.arange(len(rows))
    for shift, name in ((-0.25, "single policy"), (0, "chosen"), (0.25, "best elite")):
        left.barh(places + shift, [row[name] for row in rows.values()], 0.25, label=name)
    left.axvline(intact, linestyle=":", color="grey", label="single policy, intact robot")
    left.set(yticks=places, yticklabels=list(rows), xlabel="fitness on the damaged robot")
    left.invert_yaxis()
    left.legend(fontsize="small")
    right.barh(places, [row["trials"] for row in rows.values()], color="tab:grey")
    right.set(xlabel="trials")
    figure.savefig(output, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", help="a run directory or an archive.safetensors")
    parser.add_argument("--damage", action="append", help='such as "no left_front, dead right_rear_tibia"; repeatable')
    parser.add_argument("--trials", type=int, default=20, help="maximum number of trials per damage (default: 20)")
    parser.add_argument("--output", type=Path, default=Path("damage_recovery.png"), help="the figure to write")
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    arguments = parser.parse_args()

    repertoire = dcrl.load(arguments.run)
    task = registry.get(repertoire.task)
    damages = {damage: damaged(task, damage) for damage in arguments.damage or damages_of(task)}
    cells = np.flatnonzero(repertoire.occupied)
    single, intact = best_of(task, repertoire, cells, repertoire.fitness[cells])
    print(f"{len(cells)} elites; the best single policy has fitness {intact:.0f} on the intact robot")
    print(f"{'damage':70s}  single  chosen    best  trials")
    rows = {}
    for damage, broken in damages.items():
        rows[damage] = row = recover(broken, repertoire, single, arguments.trials)
        numbers = "  ".join(f"{row[name]:6.0f}" for name in ("single policy", "chosen", "best elite", "trials"))
        print(f"{damage:70s}  {numbers}", flush=True)
    print(*summary(rows), sep="\n")
    draw(rows, intact, arguments.output)
    if arguments.json:
        arguments.json.write_text(json.dumps({"intact": intact, "damages": rows}, indent=1))
    print(f"wrote {arguments.output}")


if __name__ == "__main__":
    main()
