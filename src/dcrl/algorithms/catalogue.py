"""The algorithms by name, with what is said about them; light to import, unlike the algorithms themselves."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Known:
    """An algorithm: its name, its label in the paper's figures, and one line about it."""

    name: str
    label: str
    summary: str
    ablation: bool = False
    of_the_paper: bool = True


# In the order of the paper's figures
CATALOGUE: dict[str, Known] = {
    known.name: known
    for known in (
        Known(
            name="dcrl_me",
            label="DCRL",
            summary="DCRL-MAP-Elites: genetic, descriptor-conditioned policy-gradient and actor-injection offspring",
        ),
        Known(
            name="dcg_me",
            label="DCG",
            summary="DCG-MAP-Elites: as dcrl_me, but the actor is evaluated for data only instead of injected",
        ),
        Known(
            name="pga_me",
            label="PGA",
            summary="PGA-MAP-Elites: genetic and policy-gradient offspring, and the greedy actor; no conditioning",
        ),
        Known(
            name="qd_pg",
            label="QD-PG",
            summary="QD-PG: genetic offspring, and policy gradients for quality and for novel states",
        ),
        Known(name="me", label="ME", summary="MAP-Elites: genetic offspring alone"),
        Known(
            name="me_es",
            label="ME-ES",
            summary="ME-ES: an evolution strategy that alternates between novelty and fitness",
        ),
        Known(name="ablation_ai", label="Ablation AI", summary="dcrl_me without actor injection", ablation=True),
        Known(
            name="ablation_actor",
            label="Ablation Actor",
            summary="dcrl_me without actor injection and without conditioning of the actor",
            ablation=True,
        ),
        Known(
            name="ascii_me",
            label="ASCII",
            summary="ASCII-MAP-Elites: genetic offspring, and elites that follow better action sequences; no critic",
            of_the_paper=False,
        ),
    )
}
DEFAULT = "dcrl_me"
PAPERS = tuple(name for name, known in CATALOGUE.items() if known.of_the_paper)
ABLATIONS = tuple(name for name, known in CATALOGUE.items() if known.ablation)
ABLATION_FIGURE = (DEFAULT, "dcg_me", *ABLATIONS)  # as in the paper
