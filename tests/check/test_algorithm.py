"""`dcrl check-algorithm`: it passes the example, and finds what is wrong with faulty algorithms."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import dcrl
from dcrl import simulators
from dcrl.algorithms import registry
from dcrl.algorithms.compose import Composition
from dcrl.algorithms.me import MEConfig, me
from dcrl.check import trial
from dcrl.check.algorithm import check_algorithm
from dcrl.check.contract import LAWS
from dcrl.check.findings import FaultError, Note
from dcrl.simulators.simulator import Simulator
from dcrl.tasks.point import point_omni
from dcrl.variation.iso_line import IsoLine
from dcrl.variation.operator import Offspring, Sources
from support.making import ran, refused

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_algorithm.py"
CONFIG = MEConfig(ga_offspring=16, archive=trial.SMALL[0], ga=trial.SMALL[1])
COUNTER = iter(range(1000))


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with simulators.make(point_omni) as opened:
        yield opened


def test_the_example_passes_every_check(capsys):
    assert ran("check-algorithm", f"{EXAMPLE}:algorithm") == 0
    said = capsys.readouterr().out
    assert "a generation is 128 ga + 128 neighbours; checked here with 8 ga + 8 neighbours" in said
    assert f"{EXAMPLE}:algorithm: every check passed\n" in said
    assert said.count("✓") == len(LAWS) + 3


@dataclass(frozen=True)
class Altered:
    """An operator, its offspring changed."""

    operator: IsoLine
    change: Any
    name: str = "ga"
    needs_training: bool = False

    @property
    def count(self) -> int:
        return self.operator.count

    def vary(self, sources: Sources, key: jax.Array) -> Offspring:
        return self.change(self.operator.vary(sources, key), sources)


def altered(change: Any) -> Any:
    def build(setting: Any, config: Any) -> Composition:
        whole = me(setting, config)
        return dataclasses.replace(whole, operators=(Altered(whole.operators[0], change),))

    return build


def hidden_state(offspring: Offspring, sources: Sources) -> Offspring:
    return dataclasses.replace(offspring, genotype=offspring.genotype + np.float32(0.01) * next(COUNTER))


def few(offspring: Offspring, sources: Sources) -> Offspring:
    return dataclasses.replace(offspring, genotype=offspring.genotype * 0)


def writes_into_the_archive(offspring: Offspring, sources: Sources) -> Offspring:
    sources.archive.fitness[np.flatnonzero(sources.archive.occupied)[0]] -= 1
    return offspring


class Wrapped:
    """MAP-Elites with one method or property replaced."""

    def __init__(self, inner: Any, **replaced: Any) -> None:
        self._inner, self._replaced = inner, replaced

    def __getattr__(self, name: str) -> Any:
        replaced = self._replaced.get(name)
        if replaced is None:
            return getattr(self._inner, name)
        return replaced(self._inner) if name.endswith("evaluations") else lambda *given: replaced(self._inner, *given)


def wrapped(**replaced: Any) -> Any:
    return lambda setting, config: Wrapped(me(setting, config), **replaced)


def forgets_a_report(inner: Any, state: Any, seed: int, stage: Any = None) -> Any:
    after, report = inner.advance(state, seed)
    return after, dataclasses.replace(report, qd_score=report.qd_score + 1)


def other_seed(inner: Any, state: Any, seed: int, stage: Any = None) -> Any:
    return inner.ask(state, seed + state.generation + 1)


@pytest.mark.parametrize(
    ("law", "build", "sentence"),
    [
        ("determinism", altered(hidden_state), "draw all randomness from the key"),
        ("resume", altered(hidden_state), "a resumed run differs|the reports of a resumed run"),
        ("archive", altered(writes_into_the_archive), "an elite's fitness falls|should be"),
        ("archive", wrapped(advance=forgets_a_report), "the QD score before plus the operators' improvements"),
        ("counts", wrapped(generation_evaluations=lambda inner: 8), "the evaluations of state and report"),
        ("ask and tell", wrapped(ask=other_seed), "another generation 0 than start and advance"),
    ],
)
def test_a_broken_law_is_found(law, build, sentence, simulator):
    with pytest.raises(FaultError, match=sentence):
        LAWS[law](trial.Trial(build, CONFIG, simulator))


def test_an_algorithm_that_does_not_learn_gets_a_note(simulator):
    assert isinstance(LAWS["learning"](trial.Trial(altered(few), CONFIG, simulator)), Note)


def test_small_reduces_every_built_in_configuration(simulator):
    for entry in registry.ALGORITHMS.values():
        reduced = trial.Trial(entry.build, trial.small(entry.build, entry.default, simulator), simulator).algorithm()
        assert reduced.generation_evaluations <= 70
        assert reduced.archive_config.cells == 64


def test_small_reduces_numbers_of_policies_whatever_they_are_called(simulator):
    """`evaluated` sets how many policies there are; `offspring_offset` does not."""

    @dataclass(frozen=True)
    class Part:
        evaluated: int = 160

    @dataclass(frozen=True)
    class Config:
        part: Part = Part()
        offspring_offset: int = 160
        even: int = 48

        def __post_init__(self) -> None:
            if self.even % 2:
                raise ValueError("even must be even")

    def build(setting: Any, config: Config) -> Composition:
        return me(setting, dataclasses.replace(CONFIG, ga_offspring=config.part.evaluated))

    assert trial.small(build, Config(), simulator) == Config(part=Part(evaluated=10))


def test_a_file_without_an_algorithm_is_one_finding(tmp_path, capsys):
    (tmp_path / "own.py").write_text("import dcrl\nthing = 3\n")
    for name, sentence in (
        ("thing", "must be a dcrl.AlgorithmEntry, got an object of type int"),
        ("other", "has no 'other'; it defines no algorithm"),
    ):
        (finding,) = check_algorithm(f"{tmp_path}/own.py:{name}")
        assert finding.status == "failed"
        assert sentence in finding.sentence
    assert "there is no algorithm 'dcrl_em'" in refused(capsys, "check-algorithm", "dcrl_em")


def test_a_configuration_that_json_cannot_hold_is_found(tmp_path):
    (tmp_path / "own.py").write_text(
        "from dataclasses import dataclass\nimport dcrl\nfrom dcrl.algorithms.me import me\n"
        "@dataclass(frozen=True)\nclass Config:\n    kinds: frozenset = frozenset({1})\n"
        "algorithm = dcrl.AlgorithmEntry(name='own', summary='', default=Config(), build=me)\n"
    )
    findings = check_algorithm(f"{tmp_path}/own.py:algorithm")
    assert [finding.status for finding in findings] == ["ok", "failed"]
    assert "cannot be written as JSON" in findings[-1].sentence


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"name": "a b"}, "an algorithm's name begins with a letter or a digit"),
        ({"default": MEConfig}, "must be an object of a frozen dataclass"),
        ({"build": 3}, "build must be a function, got an object of type int"),
    ],
)
def test_an_entry_is_checked_when_it_is_made(change, sentence):
    entry = dcrl.AlgorithmEntry(name="own", summary="My own", default=MEConfig(), build=me)
    with pytest.raises(ValueError, match=sentence):
        dataclasses.replace(entry, **change)
