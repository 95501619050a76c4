"""A task's fingerprint stays what it was in version 0.1, so that older checkpoints and evaluations still fit."""

from __future__ import annotations

import hashlib
import json

import pytest

from dcrl.tasks import registry
from dcrl.tasks.fingerprint import EARLIER_LABELS, fingerprint

# SHA-256 of the fingerprint as JSON, without the model, which follows the installed Gymnasium
KNOWN = {
    "ant_omni": "3a591f746ff26dbf",
    "anttrap_omni": "10a4ce8b34da2e81",
    "humanoid_omni": "e3a03edbf6b620f3",
    "walker2d_uni": "49afa3451cd8fb49",
    "halfcheetah_uni": "76728acc7f4d9466",
    "ant_uni": "29ee6d45f2cfbf0c",
    "humanoid_uni": "34a32f0e645a1fe9",
    "hopper_uni": "f7b17bdcf3cb3bab",
    "hexapod_uni": "f2c958f7752fa441",
    "point_omni": "28ef0538eb5debf1",
}


@pytest.mark.parametrize("name", registry.BUILT_IN)
def test_fingerprints_of_earlier_checkpoints_still_fit(name):
    """A function's text is part of it, comments and docstrings included: a change here refuses every older run."""
    found = {key: value for key, value in fingerprint(registry.get(name)).items() if key != "model"}
    text = json.dumps(found, sort_keys=True)
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == KNOWN[name]


def test_every_renamed_label_is_in_use():
    labels = {label for task in registry.BUILT_IN.values() for label in (*task.observations, *task.actions)}
    assert labels >= EARLIER_LABELS.keys()
