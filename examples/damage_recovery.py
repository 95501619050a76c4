"""A walker loses a motor and finds, in a few tens of trials, another way of walking in its repertoire.

    dcrl train walker2d_uni                                        # a repertoire, in ten minutes
    python examples/damage_recovery.py runs/walker2d_uni/dcrl_me/seed-0 --broken leg

Every elite's fitness on the intact robot is the prior of a Gaussian process over descriptors; every trial on
the damaged robot corrects it there and nearby, and the next trial is the elite with the highest upper confidence
bound (Cully et al., Robots that can adapt like animals, Nature 2015).
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

REACH = 0.15  # how far, in shares of the descriptor's range, a trial tells of its neighbours
NOISE = 0.1  # of a trial, in standard deviations of the intact repertoire's fitness
CAUTION = 0.5  # weight of the uncertainty when the next trial is chosen
GOOD_ENOUGH = 0.9  # of the best that is still thought possible


def damaged(task, broken):
    """The task with one motor that gives no torque."""
    if broken not in task.actions:
        raise SystemExit(f"{task.name} has no motor {broken!r}; it has {', '.join(task.actions)}")

    def robot():
        spec = task.robot()
        spec.actuators[task.actions.index(broken)].gear = [0.0] * 6
        return spec

    return dataclasses.replace(task, name=f"{task.name}, {broken} broken", robot=robot)


def played(task, genotypes, seeds, hidden):
    return dcrl.rollout(task, genotypes, seed=seeds, hidden=hidden, record=False).fitness


def adapt(task, repertoire, trials):
    """Cells tried, in order, and what they scored on the damaged robot."""
    cells = np.flatnonzero(repertoire.occupied)
    low, high = np.asarray(repertoire.space.low), np.asarray(repertoire.space.high)
    where = (repertoire.descriptor[cells] - low) / (high - low)
    prior, spread = repertoire.fitness[cells], repertoire.fitness[cells].std()
    tried, scores = [], []
    for trial in range(trials):
        expected, doubt = np.zeros(len(cells)), np.ones(len(cells))
        if tried:
            kernel = ConstantKernel(1.0, "fixed") * Matern(REACH, "fixed", nu=2.5)
            process = GaussianProcessRegressor(kernel, alpha=NOISE**2, optimizer=None)
            process.fit(where[tried], (np.array(scores) - prior[tried]) / spread)
            expected, doubt = process.predict(where, return_std=True)
        belief = prior + spread * expected
        if tried and max(scores) >= GOOD_ENOUGH * belief.max():
            break
        following = int(np.argmax(belief + CAUTION * spread * doubt))
        score = played(task, repertoire.genotype[cells[[following]]], [1000 + trial], repertoire.layers.sizes[1:-1])[0]
        tried.append(following)
        scores.append(float(score) if np.isfinite(score) else 0.0)
        print(
            f"trial {trial + 1:2d}  cell {cells[following]:4d}  promised {prior[following]:6.0f}  got {scores[-1]:6.0f}"
        )
    return cells[tried], np.array(scores)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", help="a run directory or an archive.safetensors")
    parser.add_argument("--broken", default="leg", help="the motor that gives no torque (default: leg)")
    parser.add_argument("--trials", type=int, default=30, help="at most so many (default: 30)")
    parser.add_argument("--output", type=Path, default=Path("damage_recovery.png"), help="where the picture goes")
    arguments = parser.parse_args()

    repertoire = dcrl.load(arguments.run)
    task = damaged(registry.get(repertoire.task), arguments.broken)
    hidden = repertoire.layers.sizes[1:-1]
    tried, scores = adapt(task, repertoire, arguments.trials)

    best_before, best_after = int(np.nanargmax(repertoire.fitness)), int(tried[np.argmax(scores)])
    again = range(32)

    def mean(task, cell):
        genotypes = np.repeat(repertoire.genotype[[cell]], len(again), axis=0)
        return float(np.nanmean(played(task, genotypes, again, hidden)))

    before = mean(registry.get(repertoire.task), best_before)
    crippled, recovered = mean(task, best_before), mean(task, best_after)
    print(f"\nmean of {len(again)} episodes each")
    print(f"  the best elite, intact robot     {before:6.0f}")
    print(f"  the same elite, {arguments.broken} broken     {crippled:8.0f}")
    print(f"  after {len(tried):2d} trials                 {recovered:6.0f}")

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    left.plot(np.arange(1, len(scores) + 1), scores, "o", label="trial")
    left.step(np.arange(1, len(scores) + 1), np.maximum.accumulate(scores), where="post", label="best so far")
    left.axhline(crippled, linestyle=":", color="grey", label="the elite that was best, crippled")
    left.set(xlabel="trial", ylabel="fitness on the damaged robot", ylim=(0, None))
    left.legend()
    names, occupied = repertoire.space.names, repertoire.occupied
    points = right.scatter(*repertoire.descriptor[occupied, :2].T, c=repertoire.fitness[occupied], s=8)
    right.plot(*repertoire.descriptor[tried, :2].T, "r.-", linewidth=0.5, label="tried, in order")
    right.plot(*repertoire.descriptor[best_after, :2], "r*", markersize=14, label="chosen")
    right.set(xlabel=names[0], ylabel=names[1])
    right.legend(loc="lower right")
    figure.colorbar(points, label="fitness on the intact robot")
    figure.savefig(arguments.output, dpi=150)
    print(f"picture: {arguments.output}")


if __name__ == "__main__":
    main()
