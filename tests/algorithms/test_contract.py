"""Every registered algorithm keeps the contract of `dcrl check-algorithm`, and has the paper's generation."""

from __future__ import annotations

import pytest

from dcrl.algorithms import registry
from dcrl.check.contract import LAWS
from dcrl.check.findings import Note
from support.generations import SMALL, compose, trial


def test_every_algorithm_is_tried_here():
    assert list(SMALL) == list(registry.ALGORITHMS)
    for name, config in SMALL.items():
        assert isinstance(config, registry.get(name).config)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("name", SMALL)
def test_the_contract(name, law):
    sentence = LAWS[law](trial(SMALL[name]))
    print(sentence)
    assert not isinstance(sentence, Note)


@pytest.mark.parametrize(
    ("name", "initial", "operators"),
    [
        ("dcrl_me", 256, "128 ga + 64 pg + 64 ai"),
        ("dcg_me", 256, "128 ga + 128 pg + 64 actor for data only"),
        ("pga_me", 256, "128 ga + 127 pg + 1 actor"),
        ("qd_pg", 256, "86 ga + 84 quality_pg + 1 quality_actor + 84 diversity_pg + 1 diversity_actor"),
        ("me_es", 30, "1000 es samples + 30 of the new centre"),
        ("me", 256, "256 ga"),
        ("ablation_ai", 256, "128 ga + 128 pg"),
        ("ablation_actor", 256, "128 ga + 128 pg"),
        ("ascii_me", 256, "128 ga + 128 ascii"),
    ],
)
def test_the_papers_generation(name, initial, operators):
    algorithm = compose(registry.get(name).default)
    assert (algorithm.initial_evaluations, algorithm.plan) == (initial, operators)
    assert algorithm.generation_evaluations == sum(int(part.split()[0]) for part in operators.split(" + "))
