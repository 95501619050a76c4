"""What `import dcrl` offers, and what it does without until it is asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

import dcrl


@pytest.mark.parametrize("name", dcrl.__all__)
def test_every_name_is_there(name):
    assert name in dir(dcrl)
    assert getattr(dcrl, name) is not None
    assert getattr(dcrl, name) is getattr(dcrl, name)


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'dcrl' has no attribute 'trian'"):
        dcrl.trian  # noqa: B018


def test_the_package_is_imported_without_the_algorithms():
    code = (
        "import sys, dcrl; print([name for name in ('optax', 'dcrl.algorithms', 'matplotlib') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip() == "[]"
