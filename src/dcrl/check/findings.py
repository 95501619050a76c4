"""What an examination finds, and the guard that turns a fault in someone's function into a finding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

LONG = 300  # characters of a message

Status: TypeAlias = Literal["ok", "failed", "note"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The outcome of one check; a note is allowed but may surprise."""

    check: str
    status: Status
    sentence: str


class FaultError(Exception):
    """What is wrong with a task, in one sentence."""


@dataclass(frozen=True)
class Note:
    """What is allowed but may surprise, in one sentence."""

    sentence: str


def find(findings: list[Finding], check: str, examine: Callable[[], str | Note]) -> bool:
    """Add the finding of one check; whether it did not fail.

    `examine` says what it found in order, returns a note, or raises. Any exception is the task's fault,
    since all that an examination calls is driven by what the task says.
    """
    status: Status = "ok"
    try:
        outcome = examine()
        if isinstance(outcome, Note):
            status, sentence = "note", outcome.sentence
        else:
            sentence = outcome
    except (FaultError, ValueError) as error:  # our own errors are sentences already
        status, sentence = "failed", str(error)
    except Exception as error:
        status, sentence = "failed", f"it raises {described(error)}"
    findings.append(Finding(check=check, status=status, sentence=" ".join(sentence.split())))
    return status != "failed"


def guard(name: str, function: Callable[..., Any], passing: tuple[type[Exception], ...] = ()) -> Callable[..., Any]:
    """The same function, whose exceptions, but for those `passing`, are faults that name it."""

    def guarded(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except passing:
            raise
        except Exception as error:
            raise FaultError(f"{name} raises {described(error)}") from error

    return guarded


def described(error: Exception) -> str:
    """The exception's type and its message on one line, cut where it grows into a page."""
    message = " ".join(str(error).split())
    return f"{type(error).__name__}: {message if len(message) <= LONG else message[:LONG] + '...'}"
