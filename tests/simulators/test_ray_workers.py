"""Workers on a Ray cluster of several nodes: the same episodes, also when a node is lost in the middle of a batch."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from dcrl import simulators
from dcrl.simulators.worker import Opening
from dcrl.simulators.workers import WorkersConfig
from dcrl.tasks import registry
from dcrl.version import versions
from support.cluster import VARIABLES, RayCluster
from support.episodes import episode_bytes, random_policies

pytestmark = [pytest.mark.slow, pytest.mark.data]

TASK = "walker2d_uni"


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in VARIABLES.items():
            patch.setenv(name, value)
        opened = RayCluster(nodes=2)
        yield opened
        opened.close()


@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")
def test_a_node_that_is_lost_costs_time_only(cluster):
    task = registry.get(TASK)
    policies = random_policies(task, 160)
    with simulators.make(task) as simulator:
        expected = episode_bytes(simulator.play(*policies, record=True))
    flags = WorkersConfig(workers="ray:2", address=cluster.address)
    with simulators.make(task, workers=flags.parsed(gymnasium=False), reference=TASK) as simulator:
        assert episode_bytes(simulator.play(*policies, record=True)) == expected
        lost = threading.Thread(target=lambda: (time.sleep(0.3), cluster.remove(cluster.nodes[0])))
        lost.start()
        assert episode_bytes(simulator.play(*policies, record=True)) == expected
        lost.join()
        assert episode_bytes(simulator.play(*policies, record=True)) == expected


@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")
def test_more_workers_than_there_is_room_for_are_refused(cluster):
    flags = WorkersConfig(workers="ray:9", address=cluster.address)
    with pytest.raises(ValueError, match=r"the Ray cluster has room for \d workers of 1 cores, --workers asks for 9"):
        simulators.make(registry.get(TASK), workers=flags.parsed(gymnasium=False), reference=TASK)


def test_a_node_with_other_versions_is_refused():
    """Also of a simulator: its episodes would be others."""
    from dcrl.simulators.ray_workers import RayPlayer

    opening = Opening(reference=TASK, simulator="mujoco", threads=1)
    refused = RayPlayer(opening, versions() | {"mujoco": "0.0.1"}).open()
    assert f"has mujoco {versions()['mujoco']} instead of 0.0.1; install the same versions on all nodes" in refused
    assert RayPlayer(opening, versions()).open() == ""


def test_a_cluster_that_is_not_there_is_one_sentence():
    flags = WorkersConfig(workers="ray", address="127.0.0.1:1")
    with pytest.raises(ValueError, match=r"there is no Ray cluster at 127\.0\.0\.1:1: Connection refused"):
        simulators.make(registry.get(TASK), workers=flags.parsed(gymnasium=False), reference=TASK)
