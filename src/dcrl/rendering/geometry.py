"""A robot's geometry: the shapes of its model, and their poses in given states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

import numpy as np

from dcrl.tasks.engine import mujoco
from dcrl.types import Floats, Ints

Kind: TypeAlias = Literal[
    "plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf"
]  # in MuJoCo's own order

DEFAULT_RGBA = np.array([0.5, 0.5, 0.5, 1], np.float32)  # MuJoCo's default


@dataclass(frozen=True, kw_only=True)
class Shape:
    """One geom of a model. Every shape is centred at its pose's origin, with z as its axis.

    `size` is MuJoCo's, in metres: a sphere's radius; a capsule's or cylinder's radius and half length (a
    capsule's without its caps); an ellipsoid's or box's three half lengths; a plane's half lengths in x and y,
    0 if it is infinite. A mesh has vertices, and triangles as rows of three vertex indices.
    """

    name: str  # empty if it has none
    kind: Kind
    size: tuple[float, float, float]
    rgba: tuple[float, float, float, float]
    body: str
    static: bool  # part of the world: it never moves
    visible: bool  # in the geom groups that MuJoCo draws by default
    vertices: Floats | None = None  # (V, 3) float32
    faces: Ints | None = None  # (F, 3)


def shapes(model: mujoco.MjModel) -> tuple[Shape, ...]:
    """One per geom, in the model's order."""
    return tuple(_shape(model, geom) for geom in range(model.ngeom))


def poses(model: mujoco.MjModel, qpos: Floats) -> tuple[Floats, Floats, Floats]:
    """Positions (N, G, 3) and quaternions wxyz (N, G, 4) of all geoms, float32; positions of the first body (N, 3)."""
    data = mujoco.MjData(model)
    position, rotation = np.empty((len(qpos), model.ngeom, 3)), np.empty((len(qpos), model.nbody, 4))
    first = np.empty((len(qpos), 3))
    for i, row in enumerate(qpos):
        data.qpos[:] = row
        mujoco.mj_kinematics(model, data)
        position[i], rotation[i] = data.geom_xpos, data.xquat
        first[i] = data.xpos[min(1, model.nbody - 1)]
    turned = _product(rotation[:, model.geom_bodyid], model.geom_quat)
    return position.astype(np.float32), turned.astype(np.float32), first


def contact_sensors(model: mujoco.MjModel) -> tuple[tuple[str, ...], Ints]:
    """The sensors that count contacts: their names, and the index of each count in `sensordata`."""
    counts = 1 << int(mujoco.mjtConDataField.mjCONDATA_FOUND)
    contact = model.sensor_type == int(mujoco.mjtSensor.mjSENS_CONTACT)
    found = np.flatnonzero(contact & (model.sensor_intprm[:, 0] & counts != 0))
    return tuple(model.sensor(i).name or f"contact {i}" for i in found), model.sensor_adr[found]


def _shape(model: mujoco.MjModel, geom: int) -> Shape:
    found, mesh = model.geom(geom), model.geom_dataid[geom]
    kind = cast(Kind, mujoco.mjtGeom(int(found.type[0])).name.removeprefix("mjGEOM_").lower())
    material = int(found.matid[0])
    own_colour = material < 0 or not np.array_equal(found.rgba, DEFAULT_RGBA)  # else the material's
    points = faces = None
    if kind in ("mesh", "sdf") and mesh >= 0:
        start, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
        points = model.mesh_vert[start : start + count].astype(np.float32)
        start, count = model.mesh_faceadr[mesh], model.mesh_facenum[mesh]
        faces = model.mesh_face[start : start + count].copy()
    return Shape(
        name=found.name,
        kind=kind,
        size=tuple(found.size.tolist()),
        rgba=tuple((found.rgba if own_colour else model.mat_rgba[material]).tolist()),
        body=model.body(int(found.bodyid[0])).name,
        static=model.body_weldid[int(found.bodyid[0])] == 0,
        visible=int(found.group[0]) < 3 and bool(found.rgba[3] > 0),
        vertices=points,
        faces=faces,
    )


def _product(a: Floats, b: Floats) -> Floats:
    """The product of quaternions wxyz (..., 4)."""
    w, v, s, u = a[..., :1], a[..., 1:], b[..., :1], b[..., 1:]
    return np.concatenate([w * s - (v * u).sum(-1, keepdims=True), w * u + s * v + np.cross(v, u)], axis=-1)
