"""The object that a reference names. Importing runs the code in its file: `trust` asks for consent first."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from functools import lru_cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

from dcrl.user_code.reference import parse


def load(text: str, noun: str, kinds: tuple[type, ...]) -> object:
    """The object; errors call it a `noun`, and name the objects of these kinds that the file does define."""
    reference = parse(text)
    where = reference.where
    try:
        module = _module_of_file(Path(where)) if reference.is_file else importlib.import_module(where)
    except ModuleNotFoundError as error:
        raise ValueError(f"cannot import {where!r} for {noun} {text!r}: {error}") from None
    except (SyntaxError, OSError) as error:
        raise ValueError(f"cannot read {where!r} for {noun} {text!r}: {error}") from None
    except Exception as error:  # any exception that the module raises when it is imported
        raise ValueError(f"cannot import {where!r} for {noun} {text!r}: {described(error)}") from error
    if not hasattr(module, reference.name):
        names = [name for name, value in vars(module).items() if isinstance(value, kinds)]
        raise ValueError(f"{where} has no {reference.name!r}; it defines {', '.join(names) or f'no {noun}'}")
    return getattr(module, reference.name)


def described(error: Exception) -> str:
    """An exception in a few words; one of ours, a ValueError, explains itself."""
    return str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"


def _module_of_file(path: Path) -> ModuleType:
    """The module in a file, imported again only when the file has changed."""
    file = path.resolve()
    return _imported(file, file.read_bytes())


@lru_cache(maxsize=16)
def _imported(file: Path, content: bytes) -> ModuleType:
    """The module, under a name of its own so that it shadows nothing."""
    name = f"dcrl_user_code_{file.stem}_{hashlib.sha256(str(file).encode()).hexdigest()[:8]}"
    loader = SourceFileLoader(name, str(file))
    # The source that was read: never compiled code beside it, which may be of something else.
    loader.get_code = lambda fullname: loader.source_to_code(content, str(file))  # type: ignore[method-assign]
    spec = importlib.util.spec_from_loader(name, loader, origin=str(file))
    if spec is None:
        raise OSError(f"{file} is not a Python file")
    spec.has_location = True
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
