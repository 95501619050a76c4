"""A study: the tasks, algorithms, seeds and budgets of a sweep, as a TOML file.

tasks = ["walker2d_uni", "ant_omni"]        # what `dcrl sweep` takes on the command line
algorithms = ["dcrl_me", "me"]
seeds = "0-19"
preset = "paper"
output = "runs/paper"

[flags]                                     # flags of `dcrl train`, for all runs
hidden = [64, 64]

[task.ant_omni]                             # for one task: another budget, further flags
evaluations = 500_000

[algorithm.me]                              # for one algorithm
flags = { ga-offspring = 128 }
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, cast

from dcrl.runs.presets import EVALUATIONS, Preset, budget

SHIPPED = Path(__file__).with_name("studies")
Flag = bool | int | float | str | list[Any]


@dataclass(frozen=True, kw_only=True)
class Part:
    """What differs for one task or one algorithm."""

    preset: Preset | None = None
    evaluations: int | None = None
    flags: Mapping[str, Flag] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Study:
    """The content of a study's file; None is the default of `dcrl sweep`."""

    tasks: tuple[str, ...] = ()
    algorithms: tuple[str, ...] | None = None
    seeds: tuple[int, ...] | None = None
    output: Path | None = None
    general: Part = field(default_factory=Part)
    task: Mapping[str, Part] = field(default_factory=dict)
    algorithm: Mapping[str, Part] = field(default_factory=dict)

    def preset(self, task: str, algorithm: str) -> Preset | None:
        """The preset of one run: that of its algorithm, of its task, or the general one."""
        return next((part.preset for part in self._parts(task, algorithm) if part.preset is not None), None)

    def evaluations(self, task: str, algorithm: str) -> int:
        """The budget of one run, from the first of these that sets a budget or a preset."""
        for part in self._parts(task, algorithm):
            if part.preset is not None or part.evaluations is not None:
                return budget(part.preset, part.evaluations)
        return budget(None, None)

    def _parts(self, task: str, algorithm: str) -> list[Part]:
        found = (self.algorithm.get(algorithm), self.task.get(task), self.general)
        return [part for part in found if part is not None]

    def flags(self, task: str, algorithm: str) -> list[str]:
        """Flags of `dcrl train` for one run; those of the algorithm replace those of the task, and these the rest."""
        merged: dict[str, Flag] = {}
        for part in reversed(self._parts(task, algorithm)):
            merged |= part.flags
        return [word for name, value in merged.items() for word in _words(name, value)]


def shipped() -> tuple[str, ...]:
    """The names of the studies that come with the package."""
    return tuple(f"studies/{path.name}" for path in sorted(SHIPPED.glob("*.toml")))


def read(path: Path) -> Study:
    """The study in a file, or a shipped one where there is no such file; a ValueError names what does not fit."""
    file = SHIPPED / path.name if path.as_posix() in shipped() and not path.exists() else path
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        known = " and ".join(shipped())
        raise ValueError(f"there is no study {path}; write one, or use {known}, which come with dcrl") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ValueError(f"cannot read the study {path}: {reason}") from None
    own = ("tasks", "algorithms", "seeds", "output", "task", "algorithm")
    _known(content, (*own, *_PART), str(path))
    seeds = content.get("seeds")
    given = seeds if isinstance(seeds, list) else [seeds]
    output = content.get("output")
    if output is not None and not isinstance(output, str):
        raise ValueError(f"{path}: output is the name of a directory, got {output!r}")
    return Study(
        tasks=_names(content, "tasks", path) or (),
        algorithms=_names(content, "algorithms", path),
        seeds=None if seeds is None else parse_seeds([str(each) for each in given]),
        output=None if output is None else Path(output),
        general=_part({name: content[name] for name in _PART if name in content}, str(path)),
        task=_parts(content, "task", path),
        algorithm=_parts(content, "algorithm", path),
    )


def parse_seeds(words: Sequence[str]) -> tuple[int, ...]:
    """Seeds from numbers and ranges, both ends included: `0-19`, `0 1 5-9`."""
    found: list[int] = []
    for word in words:
        first, dash, last = word.partition("-") if not word.startswith("-") else (word, "", "")
        try:
            numbers = range(int(first), int(last) + 1) if dash else range(int(first), int(first) + 1)
        except ValueError:
            raise ValueError(f"seeds are numbers such as 3 or ranges such as 0-19, got {word!r}") from None
        if not numbers:
            raise ValueError(f"the end of a range of seeds must not be below its start, got {word!r}")
        if len(numbers) > 100_000:
            raise ValueError(f"{len(numbers):,} seeds are too many, got {word!r}")
        found.extend(numbers)
    return tuple(found)


_PART = tuple(each.name for each in fields(Part))


def _parts(content: Mapping[str, Any], name: str, path: Path) -> dict[str, Part]:
    tables = content.get(name, {})
    if not isinstance(tables, dict):
        raise ValueError(f"{path}: {name} is a table such as [{name}.NAME], got {tables!r}")
    listed = _names(content, f"{name}s", path)
    for key in tables:
        if listed is not None and key not in listed:
            raise ValueError(f"{path}: [{name}.{key}] is not one of its {name}s: {', '.join(listed)}")
    return {key: _part(table, f"{path}: [{name}.{key}]") for key, table in tables.items()}


def _part(table: Any, where: str) -> Part:
    if not isinstance(table, dict):
        raise ValueError(f"{where} is a table, got {table!r}")
    _known(table, _PART, where)
    preset, evaluations, flags = (table.get(name) for name in _PART)
    if preset is not None and preset not in EVALUATIONS:
        raise ValueError(f"{where}: preset is one of {', '.join(EVALUATIONS)}, got {preset!r}")
    if evaluations is not None and (type(evaluations) is not int or evaluations < 1):
        raise ValueError(f"{where}: evaluations is a number of at least 1, got {evaluations!r}")
    if not isinstance(flags or {}, dict):
        raise ValueError(f"{where}: flags is a table of flags of `dcrl train`, got {flags!r}")
    return Part(preset=cast("Preset | None", preset), evaluations=evaluations, flags=flags or {})


def _names(content: Mapping[str, Any], name: str, path: Path) -> tuple[str, ...] | None:
    value = content.get(name)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ValueError(f"{path}: {name} is a list of names, got {value!r}")
    return tuple(value)


def _known(table: Mapping[str, Any], names: Sequence[str], where: str) -> None:
    for name in table:
        if name not in names:
            close = difflib.get_close_matches(name, names, n=1)
            hint = f"; did you mean {close[0]}?" if close else f"; it may have {', '.join(names)}"
            raise ValueError(f"{where} has an unknown field {name!r}{hint}")


def _words(name: str, value: Flag) -> list[str]:
    """A flag of the command line: `hidden = [64, 64]` is --hidden 64 64, and `quiet = true` is --quiet."""
    flag = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        return [flag] if value else []
    return [flag, *map(str, value if isinstance(value, list) else [value])]
