"""Structure and data → the right model, fitted."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from botorch.models.transforms import Normalize
from gpytorch.means import ZeroMean
from torch import Tensor

from bokern.errors import FitWarning, InputError, StorageError, StructureError
from bokern.fitting import FitResult
from bokern.inputs import Bounds, Observations, is_whole, read_observations
from bokern.models import StructuredGP
from bokern.models.choice import model_class
from bokern.models.outcome import YEO_JOHNSON, outcome_transform
from bokern.models.outcome_power import fit_power
from bokern.models.outcome_steps import nonlinear_steps
from bokern.models.warm_start import transferred_start as transferred_start
from bokern.structures import ConditionalDeep, Structure, as_structure

MEANS = ("constant", "zero")


def fit(
    structure: Structure | str,
    X: Any,
    y: Any,
    *,
    bounds: Bounds | None = None,
    noise: Any = None,
    starts: int = 8,
    seed: int = 0,
    objective: str = "map",
    mean: str = "constant",
    standardize: bool = True,
    outcome: str = "identity",
    inference: str = "auto",
) -> StructuredGP:
    """Fits one structure to data.

    Args:
        structure: A structure such as ``Matern(2.5)``, or its text.
        X: ``n x d`` tensor, array or DataFrame, in raw units; a vector is one column.
        y: ``n`` tensor, array or Series, in raw units.
        bounds: The declared box, ``(low, high)`` a column, in order or by name;
            evidence and priors refer to it. The data's range without one.
        noise: Known variance of y, one number or ``n``; None to infer it.
        starts: Optimisations, from the best of 512 screened draws.
        seed: Of those draws.
        objective: ``"map"``, or ``"ml"`` (type-II maximum likelihood, to reproduce
            published figures; evidence is then refused).
        mean: ``"constant"`` with a N(0, 1) prior, or ``"zero"``.
        standardize: Whether y is z-scored first, after the outcome transform.
        outcome: Transform of y: ``"identity"``, ``"log"``, ``"yeo-johnson(0.3)"`` of
            that power in [0, 2], or ``"yeo-johnson"``, whose power is fitted with the
            hyperparameters.
        inference: ``"exact"`` by dense covariances, ``"kalman"`` by a filter in O(n),
            for sums and products of Matern and Linear of one column, ``"weights"`` by
            the weights of features in O(n), for structures made of SparseSpectrum,
            SSWIM and Linear, or ``"auto"``: the cheapest of them, which give the same
            results.

    Returns:
        A BoTorch model in raw units, with ``structure`` (as given), ``column_names``,
        ``target_name``, ``bounds`` and ``fit_result``.

    Raises:
        InputError: What cannot be used, and how to mend it.
        FitError: If no start has a finite objective.
    """
    data = read_observations(X, y, bounds, noise)

    def build(outcome: str) -> StructuredGP:
        return unfitted(
            structure,
            data,
            starts=starts,
            seed=seed,
            objective=objective,
            mean=mean,
            standardize=standardize,
            outcome=outcome,
            inference=inference,
        )

    return fit_power(build) if outcome == YEO_JOHNSON else build(outcome).fit()


def unfitted(
    structure: Structure | str,
    data: Observations,
    *,
    starts: int = 8,
    seed: int = 0,
    objective: str = "map",
    mean: str = "constant",
    standardize: bool = True,
    outcome: str = "identity",
    inference: str = "auto",
) -> StructuredGP:
    """The model of a structure and checked data, before fitting; see `fit`."""
    if mean not in MEANS:
        raise InputError(f"mean is expected as 'constant' or 'zero', got {mean!r}")
    if not is_whole(starts) or starts < 1:
        raise InputError(f"starts is a whole number >= 1, got {starts!r}")
    if not is_whole(seed):
        raise InputError(f"seed is a whole number, got {seed!r}")
    if objective not in ("map", "ml"):
        raise InputError(f"objective is expected as 'map' or 'ml', got {objective!r}")
    transform = outcome_transform(outcome, data.y, standardize)
    if data.noise is not None and nonlinear_steps(transform):
        raise InputError(
            f"noise is a known variance in units of y and has no counterpart after "
            f"outcome={outcome!r}: leave the noise to be inferred, or use "
            "outcome='identity'"
        )
    given = as_structure(structure)
    resolved = given.resolve(data.column_names)
    if objective == "ml":
        _warn_of_hyperdata(resolved)
    low, high = data.bounds.tolist()
    for group in resolved.groups():
        group.check_bounds(low, high, data.column_names)
    noise = None if data.noise is None else data.noise.unsqueeze(-1)
    chosen = model_class(resolved, len(low), len(data.X), inference)
    model = chosen(
        data.X,
        data.y.unsqueeze(-1),
        noise,
        mean_module=ZeroMean() if mean == "zero" else None,
        outcome_transform=transform,
        input_transform=Normalize(len(low), bounds=data.bounds),
        structure=resolved,
        starts=int(starts),
        seed=int(seed),
        objective=objective,
    )
    model.given_structure = given
    model.column_names = data.column_names
    model.target_name = data.target_name
    model.bounds = data.bounds
    return model


def _warn_of_hyperdata(structure: Structure) -> None:
    """Type-II maximum likelihood is for published figures, above all with hyperdata."""
    deep = (n for n in structure.nodes() if isinstance(n, ConditionalDeep))
    count = sum(node.hyperdata for node in deep)
    if count:
        warnings.warn(
            f"maximum likelihood overfits {count} hyperdata: predictions from few data "
            "may be certain and wrong; use objective='map' unless you reproduce "
            "published figures",
            FitWarning,
            stacklevel=5,
        )


def lifted_start(child: StructuredGP, parent: StructuredGP) -> Tensor:
    """A fit of a contained structure as a start of its extension, ``k``.

    Args:
        child: Model of the extension, on the same data.
        parent: Fitted model of a structure that ``child``'s contains.

    Raises:
        StructureError: If it does not contain it.
    """
    names, identity = child.structure.lift(parent.structure)
    target, source = child.log_posterior(), parent.log_posterior()
    known = {c.name: source.get()[c.span] for c in source.coordinates}
    theta = target.get()
    for c in target.coordinates:
        inner = c.name.removeprefix("covar_module.")
        if inner == c.name:
            theta[c.span] = known[c.name]
            continue
        value = _identity_value(inner, identity)
        if value is not None:
            theta[c.span] = value
            continue
        prefix = max((p for p in names if inner.startswith(p)), key=len, default=None)
        if prefix is not None:
            there = f"covar_module.{names[prefix]}{inner.removeprefix(prefix)}"
            if there not in known:
                raise StructureError(f"{parent.structure} has no parameter {there}")
            theta[c.span] = known[there]
    return theta


def _identity_value(name: str, identity: dict[str, float]) -> float | None:
    for pattern, value in identity.items():
        prefix, _, suffix = pattern.partition("*")
        if name.startswith(prefix) and name.endswith(suffix or prefix):
            return value
    return None


def restored(model: StructuredGP, fit: FitResult) -> StructuredGP:
    """Writes a stored fit into a model and returns it, ready to predict.

    Raises:
        StorageError: If it is a fit of another structure.
    """
    expected = model.log_posterior().dim
    if len(fit.theta) != expected:
        raise StorageError(
            f"a fit of {model.structure} has {expected} hyperparameters, the stored "
            f"one has {len(fit.theta)}"
        )
    model.fit_results = (fit,)
    return set_theta(model, fit.theta)


def set_theta(model: StructuredGP, theta: Sequence[float]) -> StructuredGP:
    """Writes hyperparameters into a model and returns it, ready to predict."""
    objective = model.log_posterior()
    objective.set(objective.z.new_tensor(theta))
    model.train()
    return model.eval()
