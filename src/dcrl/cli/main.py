"""`dcrl <verb>`: finds the verb's module, reads its flags, and turns bad input into one sentence."""

from __future__ import annotations

import difflib
import importlib
import os
import sys
from collections.abc import Sequence

import tyro

from dcrl.version import __version__

# A verb is a module of this package (dashes become underscores) with a typed function `run` that
# returns the exit code. It is imported when it is asked for, so that help does not wait for the others.
VERBS = {
    "train": "train an algorithm on a task",
    "resume": "go on with a run that was stopped, or give it a larger budget",
    "sweep": "train every one of some algorithms on every one of some tasks, with several seeds",
    "evaluate": "evaluate an archive's elites and actor again and again: how much of it is luck",
    "show": "summarise a repertoire and draw its map",
    "render": "draw what a policy does, as a film or a picture",
    "merge": "merge repertoires: the best elite of each cell",
    "regrid": "put a repertoire's elites into other cells",
    "convert": "write a repertoire as a CSV table, or read one",
    "explore": "open a page on which a repertoire can be clicked and watched, or write it as one file",
    "export": "write policies as ONNX or NumPy files, with a contract, for use without this package",
    "report": "compare runs: figures, tables, tests, and one page that tells them",
    "algorithms": "list the algorithms",
    "tasks": "list the tasks, or describe one",
    "check-task": "examine a task: models, shapes, ranges, determinism",
    "bench": "measure speed against the machine's own limit",
    "doctor": "examine this installation and this machine",
}

CUT_OFF = 1
USAGE_ERROR = 2
INTERRUPTED = 130


def main() -> None:
    """The installed command."""
    sys.exit(command(sys.argv[1:]))


def command(arguments: Sequence[str]) -> int:
    """Run one command line; its exit code. Bad input is 2, and one sentence on stderr."""
    try:
        code = _dispatch(arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CUT_OFF
    except (ValueError, OSError) as error:
        return _refuse(str(error))
    except KeyboardInterrupt:
        print("dcrl: interrupted", file=sys.stderr)
        return INTERRUPTED


def _dispatch(arguments: Sequence[str]) -> int:
    verb, *rest = arguments or ("",)
    if verb in ("-h", "--help", "help"):
        print(_help())
        return 0
    if verb == "--version":
        print(f"dcrl {__version__}")
        return 0
    if verb not in VERBS:
        close = difflib.get_close_matches(verb, VERBS, n=1)
        hint = f" Did you mean {close[0]}?" if close else ""
        problem = f"there is no verb {verb!r}.{hint}" if verb else "a verb is missing."
        return _refuse(f"{problem} Verbs: {', '.join(VERBS)}; `dcrl --help` explains them")
    module = importlib.import_module(f"dcrl.cli.{verb.replace('-', '_')}")
    if hasattr(module, "main"):  # a verb whose flags depend on one another reads them itself
        own_code: int = module.main(rest)
        return own_code
    run = module.run
    code: int = tyro.cli(run, prog=f"dcrl {verb}", args=rest, config=(tyro.conf.FlagCreatePairsOff,))
    return code


def _help() -> str:
    width = max(map(len, VERBS))
    verbs = "\n".join(f"  {verb:<{width}}  {summary}" for verb, summary in VERBS.items())
    return (
        "usage: dcrl VERB ...\n\nRepertoires of behaviours: DCRL-MAP-Elites, its baselines and its tasks on MuJoCo.\n\n"
        f"verbs:\n{verbs}\n\n  dcrl VERB --help  the flags of a verb\n  dcrl --version    the version"
    )


def _refuse(sentence: str) -> int:
    print(f"dcrl: {' '.join(sentence.split())}", file=sys.stderr)
    return USAGE_ERROR
