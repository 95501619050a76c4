"""The public names of `dcrl`, and what `import dcrl` does not import."""

from __future__ import annotations

import subprocess
import sys

import pytest

import dcrl


def test_only_public_names_are_listed():
    assert dir(dcrl) == sorted(dcrl.__all__)


@pytest.mark.parametrize("name", dcrl.__all__)
def test_every_public_name_exists(name):
    assert getattr(dcrl, name) is not None
    assert getattr(dcrl, name) is getattr(dcrl, name)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'dcrl' has no attribute 'trian'"):
        dcrl.trian  # noqa: B018


def test_importing_the_package_imports_no_algorithms():
    code = (
        "import sys, dcrl; print([name for name in ('optax', 'dcrl.algorithms', 'matplotlib') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip() == "[]"
