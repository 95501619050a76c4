"""Gymnasium finds the environments: by `import dcrl`, or by an id that names the package."""

from __future__ import annotations

import subprocess
import sys

import gymnasium
import pytest

from dcrl.environments.registration import ENVIRONMENTS, register
from dcrl.tasks import registry

WITHOUT_IMPORT = """
import sys, warnings
warnings.simplefilter("error")
import gymnasium
try:
    gymnasium.make("dcrl:dcrl/NoSuchTask-v0")
except gymnasium.error.NameNotFound:
    pass
print("registered", "dcrl/AntOmni-v0" in gymnasium.registry)
print("heavy", sorted({"jax", "mujoco", "optax"} & sys.modules.keys()))
print("made", gymnasium.make("dcrl:dcrl/PointOmni-v0").unwrapped.task.name)
"""


def test_every_built_in_task_has_an_environment():
    assert sorted(ENVIRONMENTS.values()) == sorted((task.name, task.horizon) for task in registry.BUILT_IN.values())


def test_an_id_that_names_the_package_needs_no_import():
    done = subprocess.run([sys.executable, "-c", WITHOUT_IMPORT], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["registered True", "heavy []", "made point_omni"]


def test_registering_again_changes_nothing(recwarn: pytest.WarningsRecorder):
    before = dict(gymnasium.registry)
    register()
    assert gymnasium.registry == before
    assert not recwarn.list
