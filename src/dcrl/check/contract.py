"""The contract of an algorithm, one law per function: each returns a sentence, or raises what is wrong."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable
from pathlib import Path

import jax
import numpy as np

from dcrl import keys, simulators
from dcrl.algorithms.state import Report
from dcrl.archive.selection import EmptyArchiveError
from dcrl.check.findings import FaultError, Note
from dcrl.check.trial import (
    GENERATIONS,
    Trial,
    diverging,
    is_same,
    random_search,
    snapshot,
    starts_of_generation_0,
)
from dcrl.runs.checkpoint import Checkpoints
from dcrl.runs.iteration import iterate
from dcrl.simulators.rollouts import evaluate
from dcrl.tasks.point import NOISE, point_omni

LEARNING = 20  # generations in which an algorithm should find more than chance does
MORE = 1.2  # times the QD score of chance


def counts(trial: Trial) -> str:
    """Reports and states count evaluations and simulated steps from the start of the run."""
    run, number = trial.run, len(trial.run.reports)
    initial, each = run.algorithm.initial_evaluations, run.algorithm.generation_evaluations
    _require(number == GENERATIONS + 1, f"{GENERATIONS} generations must follow generation 0, got {number - 1}")
    for number, (state, report) in enumerate(zip(run.states, run.reports, strict=True)):
        at, total = f"in generation {number}", initial + each * number
        _equal(f"the generation of state and report {at}", (state.generation, report.generation), (number, number))
        _equal(f"the evaluations of state and report {at}", (state.evaluations, report.evaluations), (total, total))
        steps = point_omni.horizon * total
        found = (state.environment_steps, report.environment_steps)
        _equal(f"the simulated steps of state and report {at}", found, (steps, steps))
        _equal(f"the invalid evaluations {at}", report.invalid, 0)
        names = tuple(operator.name for operator in report.operators)
        _equal(f"the operators reported {at}", names, tuple(run.algorithm.operator_names))
        own = sum(operator.evaluations for operator in report.operators)
        _equal(f"the operators' evaluations {at}", own, each if number else 0)
        if run.algorithm.learners:
            _equal(f"the transitions in the replay buffer {at}", state.replay.inserted, steps)
    return f"{initial} evaluations at the start and {each} per generation are counted, including their simulated steps"


def archive(trial: Trial) -> str:
    """Improvements add up to the QD score, and an elite's fitness never falls."""
    run = trial.run
    score = run.reports[0].qd_score
    _require(score > 0, f"random policies must give a QD score above 0, got {score:g}")
    for (before, after), report in zip(itertools.pairwise(run.states), run.reports[1:], strict=True):
        at, elites = f"in generation {after.generation}", after.archive.fitness[after.archive.occupied]
        _require(bool((after.archive.fitness >= before.archive.fitness).all()), f"an elite's fitness falls {at}")
        changed = int((after.archive.fitness > before.archive.fitness).sum())
        _equal(f"the offspring that operators added {at}", sum(each.added for each in report.operators), changed)
        score += sum(operator.improvement for operator in report.operators)
        _near(f"the QD score before plus the operators' improvements {at}", score, report.qd_score)
        _near(f"the QD score reported {at}", report.qd_score, float(elites.astype(np.float64).sum()))
        _near(f"the coverage reported {at}", report.coverage, len(elites) / len(after.archive.fitness))
        _near(f"the max fitness reported {at}", report.max_fitness, float(elites.max()))
    _require(score > run.reports[0].qd_score, f"the QD score does not grow in {GENERATIONS} generations")
    return f"the QD score grows from {run.reports[0].qd_score:.0f} to {score:.0f}, and no elite's fitness falls"


def elites(trial: Trial) -> str:
    """An archived policy, played again from another start, comes near to what the archive says of it."""
    found, setting = trial.run.states[-1].archive, trial.run.algorithm.setting
    cells = np.flatnonzero(found.occupied)
    starts = keys.each(keys.root(99), len(cells))
    again = evaluate(setting.simulator, setting.descriptor, found.genotype[cells], starts, setting.layers, record=False)
    far = int((np.abs(again.descriptor - found.descriptor[cells]).max(axis=1) >= 20 * NOISE).sum())
    _require(not far, f"{far} of {len(cells)} elites end elsewhere than the archive says; are genotypes mixed up?")
    worse = float(np.median(np.abs(again.fitness - found.fitness[cells])))
    _require(worse < 2, f"elites played again differ from their stored fitness by {worse:.1f} in the median")
    return f"{len(cells)} elites, evaluated again, come close to their stored fitness and descriptor"


def determinism(trial: Trial) -> str:
    """Equal seeds give equal runs, and others do not."""
    again = trial.play()
    for one, other in zip(trial.run.states, again.states, strict=True):
        _require(
            is_same(one, other),
            f"generation {one.generation} differs when the run is repeated with the same seed; draw all randomness "
            "from the key, and change nothing outside the state",
        )
    _equal("the reports of the same run played again", again.reports, trial.run.reports)
    other_seed = trial.play(seed=1).states[-1].archive.genotype
    _require(bool((other_seed != trial.run.states[-1].archive.genotype).any()), "another seed gives the same run")
    return "the same seed gives identical bytes, and another seed gives another run"


def resume(trial: Trial) -> str:
    """A run that continues from a checkpoint on disk equals one that was never interrupted."""
    run = trial.run
    with tempfile.TemporaryDirectory() as folder:
        checkpoints = Checkpoints(Path(folder) / "checkpoints")
        about = {"configuration": dict[str, object]()}
        checkpoints.save(snapshot(run.states[2]), about)
        restored = checkpoints.load(run.algorithm.empty_state(0), about, lambda sentence: None)
    _require(restored is not None and is_same(restored, run.states[2]), "a checkpoint does not hold the whole state")
    rest = trial.play(state=restored)
    _equal("the reports of a resumed run", rest.reports, run.reports[3:])
    same = all(is_same(one, other) for one, other in zip(rest.states, run.states[3:], strict=True))
    _require(same, "a resumed run differs from one that was never interrupted; keep everything in the state")
    return "a run resumed from a checkpoint gives the same bytes as an uninterrupted one"


def ask_and_tell(trial: Trial) -> str:
    """A generation by ask, evaluate and tell is the generation of `advance`."""
    algorithm = trial.algorithm()
    state, reports = algorithm.empty_state(0), list[Report]()
    while len(reports) < 2:
        asked = algorithm.ask(state, 0)
        state, report = algorithm.tell(asked, [algorithm.setting.evaluate(asked)])
        if report is not None:
            same = is_same(state, trial.run.states[len(reports)])
            _require(same, f"ask and tell give another generation {len(reports)} than start and advance")
            reports.append(report)
    _equal("the reports of ask and tell", reports, trial.run.reports[:2])
    return "ask and tell give the same generations as start and advance"


def divergence(trial: Trial) -> str:
    """A generation whose simulations all diverge changes no elite and leaves every network finite."""
    with simulators.make(diverging(starts_of_generation_0(trial.algorithm()))) as simulator:
        algorithm = trial.algorithm(simulator)
        initial, each = algorithm.initial_evaluations, algorithm.generation_evaluations
        first, second, third = iterate(algorithm, initial + 2 * each, 0)
    (before, begun), (state, report) = first, second
    _equal(
        "the invalid evaluations of three generations",
        [n[1].invalid for n in (first, second, third)],
        [0, each, 2 * each],
    )
    _equal("the evaluations, with invalid ones", report.evaluations, initial + each)
    # each was found at its first step
    _equal(
        "the simulated steps, with those of diverged episodes", report.environment_steps, begun.environment_steps + each
    )
    _require(
        all(operator.added == 0 and operator.improvement == 0 for operator in report.operators)
        and np.array_equal(state.archive.genotype, before.archive.genotype)
        and report.qd_score == begun.qd_score,
        "a generation of diverged simulations changes the archive",
    )
    if algorithm.learners:
        _equal("the transitions of valid episodes", state.replay.inserted, point_omni.horizon * initial)
    finite = jax.tree.leaves((third[0].learned, third[0].novelty, third[0].search))
    _require(
        all(np.isfinite(leaf).all() for leaf in finite), "networks are no longer finite after diverged simulations"
    )
    return "a generation whose simulations all diverge is counted and changes nothing"


def empty(trial: Trial) -> str:
    """A run whose random policies all diverge ends with a sentence."""
    with simulators.make(diverging(keys.each(keys.root(123), 1))) as simulator:
        algorithm = trial.algorithm(simulator)
        initial = algorithm.initial_evaluations
        run = iterate(algorithm, initial + 2 * algorithm.generation_evaluations, 0)
        _, report = next(run)
        found = (report.invalid, report.coverage, report.qd_score, bool(np.isnan(report.max_fitness)))
        _equal("invalid evaluations, coverage, QD score, no max fitness", found, (initial, 0.0, 0.0, True))
        try:
            next(run)
        except EmptyArchiveError:
            return "a run without a valid evaluation ends with a clear message"
    raise FaultError(
        "a run without elites must end with an EmptyArchiveError; select elites with dcrl.archive.selection"
    )


def learning(trial: Trial) -> str | Note:
    """In 20 generations it finds more than as many random policies as were offered to its archive."""
    algorithm = trial.algorithm()
    *_, (state, report) = iterate(
        algorithm, algorithm.initial_evaluations + LEARNING * algorithm.generation_evaluations, 0
    )
    offered = 1 if len(state.search.centre) else algorithm.initial_evaluations  # ME-ES offers its centre alone
    chance = random_search(algorithm, (LEARNING + 1) * offered).qd_score
    sentence = (
        f"after {LEARNING} generations the QD score is {report.qd_score:.0f}, compared with {chance:.0f} by chance"
    )
    return sentence if report.qd_score > MORE * chance else Note(f"{sentence}: it hardly learns on the point")


LAWS: dict[str, Callable[[Trial], str | Note]] = {
    "counts": counts,
    "archive": archive,
    "elites": elites,
    "determinism": determinism,
    "resume": resume,
    "ask and tell": ask_and_tell,
    "divergence": divergence,
    "no valid policy": empty,
    "learning": learning,
}


def _require(condition: bool, sentence: str) -> None:
    if not condition:
        raise FaultError(sentence)


def _equal(what: str, got: object, expected: object) -> None:
    _require(got == expected, f"{what} should be {expected}, got {got}")


def _near(what: str, got: float, expected: float) -> None:
    _require(abs(got - expected) <= 1e-6, f"{what} should be {expected:.6f}, got {got:.6f}")
