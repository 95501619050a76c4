"""What makes an algorithm available by name: the built-in ones, and the user's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dcrl.algorithms.algorithm import Algorithm, Setting
from dcrl.tasks.naming import checked_name


@dataclass(frozen=True, kw_only=True)
class AlgorithmEntry:
    """An algorithm: its summary, its default configuration, and the function that builds it.

    name      also used in the paths of its run directories
    default   a frozen dataclass; its fields, and those of nested dataclasses, are flags of `dcrl train`
    build     (setting, configuration) -> an `Algorithm`, usually a `Composition` of operators
    """

    name: str
    summary: str
    default: Any
    build: Callable[[Setting, Any], Algorithm]

    def __post_init__(self) -> None:
        checked_name(self.name, "algorithm")
        parameters = None if isinstance(self.default, type) else getattr(self.default, "__dataclass_params__", None)
        if parameters is None or not parameters.frozen:
            raise ValueError(
                f"algorithm {self.name}: the default configuration must be an object of a frozen dataclass, "
                f"got {self.default!r}"
            )
        if not callable(self.build):
            raise ValueError(
                f"algorithm {self.name}: build must be a function, got an object of type {type(self.build).__name__}"
            )

    @property
    def config(self) -> type[Any]:
        """The class of its configurations."""
        return type(self.default)

    def check(self, hyperparameters: Any) -> None:
        """Refuse the configuration of another algorithm."""
        if not isinstance(hyperparameters, self.config):
            raise ValueError(
                f"the hyperparameters of {self.name} are a {self.config.__name__}, "
                f"got a {type(hyperparameters).__name__}"
            )
