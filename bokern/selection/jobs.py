"""The pieces of work of a search: plain data in, plain data out.

A job can be done in any process, in any order, and comes out the same: its seed is
drawn from the search's and the structure's text, and it runs on one thread.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

import torch

from bokern import seeding
from bokern.build import lifted_start, transferred_start, unfitted
from bokern.errors import EvidenceError, TimeLimitError
from bokern.evidence import laplace, laplace_integral, log_jacobian, run_smc
from bokern.fitting import scout, time_limit
from bokern.inputs import Observations
from bokern.models import DirectGP, StructuredGP
from bokern.models.choice import model_class
from bokern.selection.candidate import Candidate, Settings
from bokern.selection.storage import (
    candidate_to_json,
    observations_from_json,
    observations_to_json,
)
from bokern.structures import Structure, parse

SEARCH_ROWS = 200
"""A search looks at no more observations than this, drawn at random, until its last
step: a first look at 300 rows takes three times as long."""

SETTLED_ROWS = 2000
"""Its last step looks at no more than this, unless all finalists are filtered in O(n):
a dense covariance matrix and its gradient then take a second each time, and the
curvature 2.5 GB."""

NESTED_SLACK = 0.01
"""Nats by which a structure may fall short of one that it contains."""

Theta = tuple[float, ...]
Outcome = dict[str, Any]
"""What a job came to, as JSON; with ``error`` in place of a result if it failed, and
``passing`` if it may do better another time."""


@dataclass(frozen=True)
class Job:
    """One piece of work.

    Args:
        stage: ``"scout"``, ``"converge"``, ``"settle"`` or ``"smc"``.
        structure: Text, columns by number.
        parents: Fits of simpler structures to start from, by their texts.
        starts: Where to start, beside them.
        afresh: Whether a fit also starts from screened draws, as one does of which
            nothing is known.
        rows: Observations that it looks at, drawn at random; 0 for all.
    """

    stage: str
    structure: str
    parents: tuple[tuple[str, Theta], ...] = ()
    starts: tuple[Theta, ...] = ()
    afresh: bool = False
    rows: int = 0

    @property
    def key(self) -> str:
        """What tells this job from all others of one search."""
        text = json.dumps(asdict(self))
        return hashlib.sha256(text.encode()).hexdigest()[:24]


@dataclass(frozen=True)
class Effort:
    """How much is done for a structure.

    Args:
        starts: Screened starts of a first look.
        thinned: One draw in so many is screened for them.
        particles: Of each sampled estimate.
        replicates: Of them.
        time_limit: Seconds allowed to a step of one structure; None for no limit.
    """

    starts: int = 8
    thinned: int = 1
    particles: int = 256
    replicates: int = 5
    time_limit: float | None = None


@dataclass(frozen=True)
class Context:
    """What all jobs of a search share.

    Args:
        data: All observations.
        settings: Of the fits.
        effort: How much is done for a structure.
    """

    data: Observations
    settings: Settings
    effort: Effort

    def dumps(self) -> str:
        """The text that `loads` reads back."""
        document = {
            "data": observations_to_json(self.data),
            "settings": asdict(self.settings),
            "effort": asdict(self.effort),
        }
        return json.dumps(document)

    @property
    def digest(self) -> str:
        """Names the data, their bounds and noise included."""
        document = observations_to_json(self.data) | {"notes": []}
        text = json.dumps(document)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def on(self, most: int) -> Context:
        """The same with so many observations at most, drawn at random; 0 for all.

        A smaller draw is a part of a larger one.
        """
        data = self.data
        n = len(data.X)
        if most == 0 or n <= most:
            return self
        generator = seeding.generator("rows", self.settings.seed)
        rows = torch.randperm(n, generator=generator)[:most].sort().values
        rows = rows.to(data.X.device)
        drawn = replace(
            data,
            X=data.X[rows],
            y=data.y[rows],
            noise=None if data.noise is None else data.noise[rows],
        )
        return replace(self, data=drawn)


def settled_rows(structures: Sequence[Structure], data: Observations) -> int:
    """To how many rows finalists are fitted, the same for all: 0 for all there are."""
    n, d = data.X.shape
    linear = all(issubclass(model_class(s, d, n), DirectGP) for s in structures)
    return 0 if n <= SETTLED_ROWS or linear else SETTLED_ROWS


@lru_cache(maxsize=4)
def _loads(text: str) -> Context:
    document = json.loads(text)
    return Context(
        observations_from_json(document["data"]),
        Settings(**document["settings"]),
        Effort(**document["effort"]),
    )


def execute(job: Job, text: str) -> Outcome:
    """Does a job in another process, from the text of its context.

    See `Context.on`: the text has at least the rows that the job looks at.
    """
    return perform(job, _loads(text))


def perform(job: Job, context: Context) -> Outcome:
    """Does a job. Whatever goes wrong is told in the outcome, never raised."""
    began = time.perf_counter()
    with one_thread(), time_limit(context.effort.time_limit):
        try:
            outcome = _STAGES[job.stage](job, context.on(job.rows))
        except Exception as error:
            outcome = {"error": f"{type(error).__name__}: {error}", "evaluations": 0}
            if isinstance(error, TimeLimitError | MemoryError):
                outcome["passing"] = True
    outcome["seconds"] = time.perf_counter() - began
    return outcome


@contextmanager
def one_thread() -> Iterator[None]:
    """The last bits of a sum depend on the number of threads, and results must not."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _model(text: str, data: Observations, context: Context, starts: int) -> Any:
    options = context.settings.options() | {"starts": max(1, starts)}
    model = unfitted(parse(text), data, **options)
    model.starts = starts
    return model


def _scout(job: Job, context: Context) -> Outcome:
    data, effort = context.data, context.effort
    model = _model(job.structure, data, context, effort.starts)
    objective = model.log_posterior()
    base, carried = [], []
    for text, theta in job.parents:
        parent = _model(text, data, context, 1)
        _write(parent, theta)
        start, known = transferred_start(model, parent)
        base.append(start)
        carried.append(known)
    found = scout(
        objective,
        starts=effort.starts,
        thinned=effort.thinned,
        seed=seeding.spawn(context.settings.seed, job.structure),
        base=torch.stack(base) if base else None,
        carried=torch.stack(carried) if carried else None,
    )
    log_integral, _ = laplace_integral(objective, found.theta[0])
    return {
        "theta": found.theta.tolist(),
        "score": log_integral + log_jacobian(model),
        "evaluations": found.evaluations + objective.dim,
        "rows": len(data.X),
    }


def _fit(job: Job, context: Context) -> Outcome:
    data = context.data
    screened = context.settings.starts if job.afresh or not job.starts else 0
    model = _model(job.structure, data, context, screened)
    objective = model.log_posterior()
    warm = [objective.z.new_tensor(theta) for theta in job.starts]
    lifted = []
    for text, theta in job.parents:
        parent = _model(text, data, context, 1)
        _write(parent, theta)
        lifted.append(lifted_start(model, parent))
    warm += lifted
    model.fit(warm=torch.stack(warm) if warm else None)
    evidence = laplace(model)
    reached = _reached(model) + NESTED_SLACK
    if any(objective(start).item() > reached for start in lifted):
        flags = (*evidence.flags, "NESTED_VIOLATION")
        evidence = replace(evidence, flags=flags)
    if not abs(evidence.log_evidence) < float("inf"):
        raise EvidenceError(f"the log evidence is {evidence.log_evidence}")
    candidate = Candidate.of(parse(job.structure), model, evidence)
    return {
        "candidate": candidate_to_json(candidate),
        "score": evidence.log_evidence,
        "evaluations": candidate.fit.evaluations + evidence.n_hyperparameters,
        "rows": len(data.X),
    }


def _reached(model: StructuredGP) -> float:
    assert model.fit_result is not None
    return model.fit_result.objective


def _smc(job: Job, context: Context) -> Outcome:
    effort = context.effort
    model = _model(job.structure, context.data, context, 0)
    _write(model, job.starts[0])
    sampled = run_smc(
        model,
        particles=effort.particles,
        replicates=effort.replicates,
        seed=seeding.spawn("smc", context.settings.seed, job.structure),
    )
    return {
        "evidence": sampled.evidence.to_json(),
        "score": sampled.evidence.log_evidence,
        "evaluations": sampled.run.evaluations,
        "rows": len(context.data.X),
    }


def _write(model: StructuredGP, theta: Theta) -> None:
    objective = model.log_posterior()
    objective.set(objective.z.new_tensor(theta))


_STAGES = {"scout": _scout, "converge": _fit, "settle": _fit, "smc": _smc}
