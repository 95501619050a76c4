"""A walker with a broken motor finds another gait in its repertoire, in a few trials.

    dcrl train walker2d_uni                                        # about ten minutes
    python examples/damage_recovery.py runs/walker2d_uni/dcrl_me/seed-0 --broken leg

The stored fitness of the elites is the prior mean of a Gaussian process over descriptors. Each trial on the damaged
robot updates the posterior, and the next trial is the elite with the highest upper confidence bound (Cully et al.,
Robots that can adapt like animals, Nature 2015).
"""

import argparse
import dataclasses
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern

import dcrl
from dcrl.tasks import registry

LENGTH_SCALE = 0.15  # of the kernel, relative to the descriptor's range
NOISE = 0.1  # of a trial, relative to the standard deviation of the stored fitness
KAPPA = 0.5  # weight of the standard deviation in the upper confidence bound
STOP = 0.9  # of the highest posterior mean


def damaged(task, broken):
    """The task with one motor disabled."""
    if broken not in task.actions:
        raise SystemExit(f"{task.name} has no motor {broken!r}; it has {', '.join(task.actions)}")

    def robot():
        spec = task.robot()
        spec.actuators[task.actions.index(broken)].gear = [0.0] * 6
        return spec

    return dataclasses.replace(task, name=f"{task.name}, {broken} broken", robot=robot)


def evaluate(task, genotypes, seeds, hidden):
    return dcrl.rollout(task, genotypes, seed=seeds, hidden=hidden, record=False).fitness


def adapt(task, repertoire, trials):
    """The cells trials, and their fitness on the damaged robot."""
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
        score = evaluate(task, repertoire.genotype[cells[[chosen]]], [1000 + trial], repertoire.layers.sizes[1:-1])[0]
        tried.append(chosen)
        scores.append(float(score) if np.isfinite(score) else 0.0)
        print(f"trial {trial + 1:2d}  cell {cells[chosen]:4d}  stored {prior[chosen]:6.0f}  achieved {scores[-1]:6.0f}")
    return cells[tried], np.array(scores)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", help="a run directory or an archive.safetensors")
    parser.add_argument("--broken", default="leg", help="the disabled motor (default: leg)")
    parser.add_argument("--trials", type=int, default=30, help="maximum number of trials (default: 30)")
    parser.add_argument("--output", type=Path, default=Path("damage_recovery.png"), help="the figure to write")
    arguments = parser.parse_args()

    repertoire = dcrl.load(arguments.run)
    task = damaged(registry.get(repertoire.task), arguments.broken)
    hidden = repertoire.layers.sizes[1:-1]
    tried, scores = adapt(task, repertoire, arguments.trials)

    best_before, best_after = int(np.nanargmax(repertoire.fitness)), int(tried[np.argmax(scores)])
    again = range(32)

    def mean(task, cell):
        genotypes = np.repeat(repertoire.genotype[[cell]], len(again), axis=0)
        return float(np.nanmean(evaluate(task, genotypes, again, hidden)))

    before = mean(registry.get(repertoire.task), best_before)
    damaged_fitness, recovered = mean(task, best_before), mean(task, best_after)
    print(f"\nmean of {len(again)} episodes each")
    print(f"  fittest elite, intact robot      {before:6.0f}")
    print(f"  same elite, {arguments.broken} broken         {damaged_fitness:8.0f}")
    print(f"  after {len(tried):2d} trials                 {recovered:6.0f}")

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    left.plot(np.arange(1, len(scores) + 1), scores, "o", label="trial")
    left.step(np.arange(1, len(scores) + 1), np.maximum.accumulate(scores), where="post", label="best so far")
    left.axhline(damaged_fitness, linestyle=":", color="grey", label="fittest elite on the damaged robot")
    left.set(xlabel="trial", ylabel="fitness on the damaged robot", ylim=(0, None))
    left.legend()
    names, occupied = repertoire.space.names, repertoire.occupied
    points = right.scatter(*repertoire.descriptor[occupied, :2].T, c=repertoire.fitness[occupied], s=8)
    right.plot(*repertoire.descriptor[tried, :2].T, "r.-", linewidth=0.5, label="trials")
    right.plot(*repertoire.descriptor[best_after, :2], "r*", markersize=14, label="chosen")
    right.set(xlabel=names[0], ylabel=names[1])
    right.legend(loc="lower right")
    figure.colorbar(points, label="fitness on the intact robot")
    figure.savefig(arguments.output, dpi=150)
    print(f"wrote {arguments.output}")


if __name__ == "__main__":
    main()
