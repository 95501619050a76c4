"""Findings, and the guard that turns an exception in a task's function into one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

LONG = 300  # characters of a message

Status: TypeAlias = Literal["ok", "failed", "note"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The outcome of one check; a note is a warning, not a failure."""

    check: str
    status: Status
    sentence: str


class FaultError(Exception):
    """What is wrong with a task, in one sentence."""


@dataclass(frozen=True)
class Note:
    """A warning, in one sentence."""

    sentence: str


def find(findings: list[Finding], check: str, examine: Callable[[], str | Note]) -> bool:
    """Add the finding of one check; returns whether it passed.

    `examine` returns a sentence, or a note, or raises. Any exception counts as a fault of the task.
    """
    status: Status = "ok"
    try:
        outcome = examine()
        if isinstance(outcome, Note):
            status, sentence = "note", outcome.sentence
        else:
            sentence = outcome
    except (FaultError, ValueError) as error:  # these messages are sentences
        status, sentence = "failed", str(error)
    except Exception as error:
        status, sentence = "failed", f"it raises {described(error)}"
    findings.append(Finding(check=check, status=status, sentence=" ".join(sentence.split())))
    return status != "failed"


def guard(name: str, function: Callable[..., Any], passing: tuple[type[Exception], ...] = ()) -> Callable[..., Any]:
    """The same function; its exceptions, except those in `passing`, become faults that name it."""

    def guarded(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except passing:
            raise
        except Exception as error:
            raise FaultError(f"{name} raises {described(error)}") from error

    return guarded


def described(error: Exception) -> str:
    """The exception's type and its message on one line, shortened if it is long."""
    message = " ".join(str(error).split())
    return f"{type(error).__name__}: {message if len(message) <= LONG else message[:LONG] + '...'}"
