"""Counts and lists in sentences."""

from __future__ import annotations

import pytest

from dcrl.repertoires.words import listed, plural


@pytest.mark.parametrize(
    ("count", "noun", "words"),
    [
        (0, "elite", "0 elites"),
        (1, "elite", "1 elite"),
        (2, "generation", "2 generations"),
        (1024, "cell", "1,024 cells"),
    ],
)
def test_a_count_agrees_with_its_noun(count, noun, words):
    assert plural(count, noun) == words


def test_names_with_commas_can_be_told_apart():
    assert listed(["x", "y"]) == "x, y"
    assert listed(["contact, left", "contact, right"]) == "contact, left; contact, right"
    assert listed([]) == ""
