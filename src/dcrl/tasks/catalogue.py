"""The built-in tasks' names, each with the module that defines it: known without loading a simulator."""

from __future__ import annotations

PAPER = {
    "ant_omni": "ant",
    "anttrap_omni": "ant",
    "humanoid_omni": "humanoid",
    "walker2d_uni": "walker2d",
    "halfcheetah_uni": "half_cheetah",
    "ant_uni": "ant",
    "humanoid_uni": "humanoid",
}
BEYOND = {"hopper_uni": "hopper", "hexapod_uni": "hexapod", "point_omni": "point"}
BUILT_IN = PAPER | BEYOND
