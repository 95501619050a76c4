"""`dcrl COMMAND`: import the command's module, parse its flags, and refuse bad input with one sentence."""

from __future__ import annotations

import difflib
import importlib
import logging
import os
import sys
from collections.abc import Sequence

import tyro

from dcrl.cli.interrupt import INTERRUPTED
from dcrl.version import __version__

# A command is a module of this package (dashes become underscores) with a typed function `run` that returns the exit
# code. It is imported when it is called, so that help does not wait for the others.
COMMANDS = {
    "train": "train an algorithm on a task",
    "resume": "resume an interrupted run, or extend a run to a larger budget",
    "sweep": "train several algorithms on several tasks with several seeds",
    "evaluate": "measure how reproducible an archive is by re-evaluating its elites and its actor",
    "show": "summarise a repertoire and draw its map",
    "render": "render an episode of a policy as a video or a picture",
    "merge": "merge repertoires, keeping the best elite of each cell",
    "regrid": "change the number of cells of a repertoire",
    "convert": "write a repertoire as a CSV table; read a table, a QDax repertoire or a pyribs archive",
    "explore": "explore a repertoire in the browser, or write it as one HTML file",
    "export": "write policies as ONNX or NumPy files, for use without this package",
    "report": "compare runs: figures, tables and tests on one page",
    "algorithms": "list the algorithms",
    "tasks": "list the tasks, or describe one",
    "check-task": "check a task: model, shapes, ranges, determinism",
    "check-algorithm": "check an algorithm: counts, archive, determinism, resuming",
    "bench": "measure speed relative to the machine's own limit",
    "doctor": "check this installation and this machine",
}

CUT_OFF = 1
USAGE_ERROR = 2


def command(arguments: Sequence[str]) -> int:
    """Run one command line; its exit code. Bad input is 2, and one sentence on stderr."""
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it tells where it keeps its cache, if not at home
    try:
        code = _dispatch(arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader, such as `head`, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CUT_OFF
    except (ValueError, OSError) as error:
        return _refuse(str(error))
    except KeyboardInterrupt:
        print("dcrl: interrupted", file=sys.stderr)
        return INTERRUPTED


def _dispatch(arguments: Sequence[str]) -> int:
    name, *rest = arguments or ("",)
    if name in ("-h", "--help", "help"):
        print(_help())
        return 0
    if name == "--version":
        print(f"dcrl {__version__}")
        return 0
    if name not in COMMANDS:
        close = difflib.get_close_matches(name, COMMANDS, n=1)
        hint = f" Did you mean {close[0]}?" if close else ""
        problem = f"unknown command {name!r}.{hint}" if name else "a command is missing."
        return _refuse(f"{problem} Commands: {', '.join(COMMANDS)}; `dcrl --help` explains them")
    module = importlib.import_module(f"dcrl.cli.{name.replace('-', '_')}")
    if hasattr(module, "main"):  # a command whose flags depend on one another reads them itself
        own_code: int = module.main(rest)
        return own_code
    run = module.run
    code: int = tyro.cli(run, prog=f"dcrl {name}", args=rest, config=(tyro.conf.FlagCreatePairsOff,))
    return code


def _help() -> str:
    width = max(map(len, COMMANDS))
    commands = "\n".join(f"  {name:<{width}}  {summary}" for name, summary in COMMANDS.items())
    return (
        "usage: dcrl COMMAND ...\n\nRepertoires of behaviours: DCRL-MAP-Elites, its baselines and its tasks on MuJoCo."
        f"\n\ncommands:\n{commands}\n\n  dcrl COMMAND --help  its flags\n  dcrl --version       the version"
    )


def _refuse(sentence: str) -> int:
    print(f"dcrl: {' '.join(sentence.split())}", file=sys.stderr)
    return USAGE_ERROR
