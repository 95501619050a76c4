"""Every public name of `dcrl` is on the API pages, and it and its members have docstrings; else the build fails.

Of the modules beside it, such as `dcrl.archive.archive`, every class and function has a docstring.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

import dcrl
from _site.api import find

logger = logging.getLogger(__name__)


def problems(documented: set[str]) -> Iterator[str]:
    """What is missing on the API pages, which document the names given."""
    yield from (
        f"dcrl.{name} is public but not on an API page: add it to docs/api/"
        for name in dcrl.__all__
        if name != "__version__" and f"dcrl.{name}" not in documented
    )
    yield from (f"{name} has no docstring" for name in sorted(documented) if not _described(name))


def _described(name: str) -> bool:
    owner_name, _, last = name.rpartition(".")
    owner = find(owner_name)
    if not inspect.isclass(owner):
        thing = getattr(owner, last)
        generated = inspect.isclass(thing) and (thing.__doc__ or "").startswith(f"{thing.__name__}(")  # by dataclass
        return not callable(thing) or (bool(thing.__doc__) and not generated)
    thing = vars(owner).get(last)
    # the name, the type and the class's docstring say what a field is
    is_field = last in inspect.get_annotations(owner) or inspect.ismemberdescriptor(thing)
    inner = not owner_name.startswith("dcrl.") or owner_name.count(".") > 1  # a member of a building block
    return is_field or inner or bool(getattr(thing, "__doc__", None))


def check(app: Sphinx, env: BuildEnvironment) -> None:
    objects = env.domains["py"].data["objects"]
    for problem in problems({name for name, entry in objects.items() if entry.objtype != "module"}):
        logger.warning(problem, type="dcrl", subtype="public")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("env-check-consistency", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
