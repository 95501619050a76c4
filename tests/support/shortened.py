"""Documented commands with small budgets: the same flags, with fewer episodes, smaller networks and pictures."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Any

import dcrl
from dcrl.runs import config as configs
from support.generations import SMALL

EVALUATIONS = 32
HIDDEN = (16, 16)
LEARNING = (
    *("--critic-steps", "4", "--critic-hidden", "16", "16", "--batch-size", "16", "--replay-size", "4000"),
    *("--policy-steps", "2"),
)
ARCHIVE = ("--cells", "64", "--cvt-samples", "1000")
OFFSPRING = {
    "dcrl_me": ("--ga-offspring", "8", "--pg-offspring", "4", "--ai-offspring", "4", *LEARNING),
    "pga_me": ("--ga-offspring", "8", "--pg-offspring", "7", *LEARNING),
    "me": ("--ga-offspring", "16"),
    "examples/own_algorithm.py:algorithm": ("--ga-offspring", "8", "--neighbour-offspring", "8"),
}


def shortened(words: list[str]) -> list[str]:
    """The arguments of `dcrl` for a small budget."""
    name, *rest = words
    if "--help" in rest:
        return words
    if name == "train":
        algorithm = rest[rest.index("--algorithm") + 1] if "--algorithm" in rest else "dcrl_me"
        small = (*OFFSPRING[algorithm], *ARCHIVE, "--evaluations", str(EVALUATIONS))
        if "--hidden" not in rest:
            small += ("--hidden", *map(str, HIDDEN))
        return [name, *without(rest, "--evaluations", "--preset"), *small, "--overwrite"]
    if name == "resume" and "--evaluations" in rest:
        return [name, *without(rest, "--evaluations"), "--evaluations", str(3 * EVALUATIONS)]
    if name == "sweep":  # only planned, in a folder without runs of other settings
        end = rest.index("--") if "--" in rest else len(rest)
        own = [word for word in rest[:end] if word != "--dry-run"]
        place = [] if any(word.endswith(".toml") for word in own) else ["--output", "sweeps"]  # a study names its own
        return [name, *own, "--dry-run", *place, *rest[end:]]
    if name == "evaluate":
        return [name, *without(rest, "--repeats"), "--repeats", "2"]
    if name == "render" and "--montage" in rest:
        return [name, *rest, "--overwrite"]
    if name == "render":
        small = ("--seconds", "0.2", "--width", "64", "--height", "64", "--overwrite")
        return [name, *without(rest, "--seconds", "--width", "--height", "--fps"), *small]
    if name == "explore" and "--export" in rest:
        return [name, *without(rest, "--cells"), *([] if "--descriptor" in rest else ["--cells", "2"]), "--overwrite"]
    if name in ("export", "report") or (name in ("convert", "merge", "regrid", "show") and "--output" in rest):
        return [name, *rest, "--overwrite"]
    return words


def without(words: list[str], *flags: str) -> list[str]:
    """The words without some flags that take one value each."""
    kept: list[str] = []
    skip = False
    for word in words:
        skip, dropped = word in flags, skip or word in flags
        kept += [] if dropped else [word]
    return kept


def shortened_python(source: str) -> str:
    """Documented Python with a small budget where it counts evaluations."""
    lines = (
        re.sub(r"\b\d{1,3}(_\d{3})+\b", str(EVALUATIONS), line) if "evaluations" in line else line
        for line in source.splitlines()
    )
    return "\n".join(lines)


def small_functions(monkeypatch: Any) -> None:
    """`dcrl.train` and `dcrl.resume` with the same budgets, for documented Python."""
    train, resume, ask_tell = dcrl.train, dcrl.resume, dcrl.ask_tell

    def small(task: str, algorithm: str = "dcrl_me", **given: Any) -> dcrl.Repertoire:
        own = {"evaluations": EVALUATIONS, "hidden": HIDDEN, "hyperparameters": SMALL[algorithm], "overwrite": True}
        return train(task, algorithm, **(own | {"seed": given.get("seed", 0)}))

    def asked(task: str, algorithm: str = "dcrl_me", **given: Any) -> Any:
        return ask_tell(task, algorithm, evaluations=EVALUATIONS, hidden=HIDDEN, hyperparameters=SMALL[algorithm])

    default = configs.default

    def small_default(task: str, algorithm: str) -> configs.RunConfig:
        own = {"evaluations": EVALUATIONS, "hidden": HIDDEN, "hyperparameters": SMALL[algorithm]}
        return replace(default(task, algorithm), **own)

    monkeypatch.setattr(configs, "default", small_default)
    monkeypatch.setattr(dcrl, "train", small, raising=False)
    monkeypatch.setattr(dcrl, "ask_tell", asked, raising=False)
    monkeypatch.setattr(dcrl, "resume", partial(_resume, resume), raising=False)


def _resume(resume: Any, path: str, **given: Any) -> dcrl.Repertoire:
    return resume(path, evaluations=3 * EVALUATIONS) if "evaluations" in given else resume(path)
