"""Reads what users pass as data: tensors, arrays, DataFrames, Series and lists."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from bokern.errors import BoundsError, ColumnError, DataError, ShapeError

MIN_ROWS = 2
OUTSIDE = 1e-9
"""Tolerance of the bounds, in units of the box."""

Bounds = Sequence[tuple[float, float]] | Mapping[str, tuple[float, float]] | Tensor


@dataclass(frozen=True)
class Observations:
    """Checked data.

    Args:
        X: ``n x d``, raw units.
        y: ``n``, raw units.
        bounds: ``2 x d``, raw units.
        noise: Known variances of y, ``n``, or None.
        column_names: Of X.
        target_name: Of y.
        notes: What was assumed on the way, in sentences.
    """

    X: Tensor
    y: Tensor
    bounds: Tensor
    noise: Tensor | None
    column_names: tuple[str, ...]
    target_name: str
    notes: tuple[str, ...] = ()


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number of any library, and no truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def read_observations(
    X: Any, y: Any, bounds: Bounds | None = None, noise: Any = None
) -> Observations:
    """Checks data and brings them into tensors.

    NumPy, pandas and lists become float64; tensors keep their dtype and device.

    Args:
        X: ``n x d``; a vector is one column.
        y: ``n`` or ``n x 1``.
        bounds: The declared box: ``(low, high)`` a column in order, or by column
            name, or ``2 x d``. Without one the data's range is used.
        noise: Known variance of the observations in squared units of y, one number or
            ``n`` of them; None to infer it.

    Raises:
        DataError: NaN, infinite, empty, constant or non-numeric values; dtypes or
            devices that differ; repeated noise-free inputs with different targets.
        ShapeError: Wrong numbers of dimensions or rows.
        BoundsError: Malformed bounds, or points outside them.
        ColumnError: Names that repeat, or bounds for a column that is not there.
    """
    names, inputs = _read_inputs(X)
    target_name, targets = _read_targets(y)
    _check_alike(X, y, inputs, targets)
    n = len(inputs)
    if targets.shape[0] != n:
        raise ShapeError(
            f"X has {n} rows and y has {targets.shape[0]}: they need one target a row"
        )
    if n < MIN_ROWS:
        raise DataError(
            f"at least {MIN_ROWS} observations are needed, got {n}: there is nothing "
            "to compare or fit with fewer"
        )
    _check_finite(inputs, names)
    _check_finite(targets.unsqueeze(-1), (target_name,))
    if bool((targets == targets[0]).all()):
        raise DataError(
            f"{target_name!r} is constant ({targets[0].item():g} in all {n} rows): no "
            "structure can be told from another; check the target column"
        )
    spread = targets.std().item()
    if not (math.isfinite(spread) and spread > 0.0):
        raise DataError(
            f"{target_name!r} spreads over a scale that {targets.dtype} cannot square "
            f"(its largest value is {targets.abs().max().item():g}): multiply it by a "
            "constant that brings it near 1"
        )
    box, notes = _read_bounds(bounds, inputs, names)
    variances = _read_noise(noise, targets)
    notes += _check_repeats(inputs, targets, variances, target_name)
    return Observations(inputs, targets, box, variances, names, target_name, notes)


def _read_inputs(X: Any) -> tuple[tuple[str, ...], Tensor]:
    if isinstance(X, pd.Series):
        X = X.to_frame(name=X.name if X.name is not None else "x0")
    if isinstance(X, pd.DataFrame):
        if X.shape[1] == 0:
            raise ShapeError("X has no columns: at least one input is needed")
        names = tuple(map(str, X.columns))
        repeated = sorted({c for c in names if names.count(c) > 1})
        if repeated:
            raise ColumnError(f"X names columns twice: {repeated}: rename them")
        _check_numeric(X)
        return names, torch.from_numpy(X.to_numpy(dtype=np.float64, copy=True))
    values = _read_tensor(X, "X")
    if values.dim() == 1:
        values = values.unsqueeze(-1)
    if values.dim() != 2:
        raise ShapeError(
            f"X is expected as n x d, one row an observation, got {_shape(values)}"
        )
    if values.shape[1] == 0:
        raise ShapeError("X has no columns: at least one input is needed")
    return tuple(f"x{j}" for j in range(values.shape[1])), values


def _read_targets(y: Any) -> tuple[str, Tensor]:
    name = "y"
    if isinstance(y, pd.DataFrame):
        if y.shape[1] != 1:
            raise ShapeError(
                f"y is expected as one column, got {y.shape[1]}: {list(y.columns)}; "
                "fit each outcome by itself and join them in a ModelListGP"
            )
        y = y.iloc[:, 0]
    if isinstance(y, pd.Series):
        name = str(y.name) if y.name is not None else name
        _check_numeric(y.to_frame(name=name))
        return name, torch.from_numpy(y.to_numpy(dtype=np.float64, copy=True))
    values = _read_tensor(y, "y")
    if values.dim() == 2 and values.shape[1] == 1:
        values = values.squeeze(-1)
    if values.dim() != 1:
        raise ShapeError(
            f"y is expected as n or n x 1, one outcome, got {_shape(values)}; fit each "
            "outcome by itself and join them in a ModelListGP"
        )
    return name, values


def _read_tensor(values: Any, name: str) -> Tensor:
    if torch.is_tensor(values):
        if values.is_complex():
            raise DataError(f"{name} is complex: real numbers are expected")
        if values.layout is not torch.strided:
            raise DataError(f"{name} is sparse: convert it by {name}.to_dense()")
        values = values.detach()
        if values.dtype in (torch.float16, torch.bfloat16):
            raise DataError(
                f"{name} is {values.dtype}, too coarse for covariances: convert it by "
                f"{name}.double()"
            )
        return values if values.is_floating_point() else values.double()
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "fiub":
            raise TypeError(f"dtype {array.dtype}")
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{name} is expected as numbers in a tensor, array or DataFrame, got "
            f"{type(values).__name__} ({error}): convert it, for instance by "
            "DataFrame.astype(float) or pandas.get_dummies"
        ) from error
    return torch.from_numpy(array.astype(np.float64))


def _check_numeric(frame: pd.DataFrame) -> None:
    for name, dtype in frame.dtypes.items():
        real = pd.api.types.is_numeric_dtype(dtype)
        if not real or pd.api.types.is_complex_dtype(dtype):
            example = frame[name].iloc[0] if len(frame) else None
            raise DataError(
                f"column {name!r} holds {dtype} values such as {example!r}, numbers "
                "are expected: drop it, or encode it, for instance by "
                "pandas.get_dummies"
            )


def _check_alike(X: Any, y: Any, inputs: Tensor, targets: Tensor) -> None:
    labelled = pd.DataFrame | pd.Series
    both = isinstance(X, labelled) and isinstance(y, labelled)
    if both and len(X) == len(y) and not X.index.equals(y.index):
        raise DataError(
            "X and y have different indexes, so their rows may not belong together: "
            "align them, as in y = y.loc[X.index], or drop the indexes by "
            "reset_index(drop=True)"
        )
    if not (torch.is_tensor(X) and torch.is_tensor(y)):
        return
    for what in ("dtype", "device"):
        a, b = getattr(inputs, what), getattr(targets, what)
        if a != b:
            raise DataError(
                f"X and y are expected with one {what}, got {a} and {b}: convert one, "
                "as in y.to(X)"
            )


def _check_finite(values: Tensor, names: Sequence[str]) -> None:
    bad = ~torch.isfinite(values)
    if bool(bad.any()):
        row, column = bad.nonzero()[0].tolist()
        raise DataError(
            f"{names[column]!r} is {values[row, column].item()} in row {row} "
            f"({int(bad.sum())} such values in all): finite numbers are expected; drop "
            "or impute those rows"
        )


def _read_bounds(
    bounds: Bounds | None, X: Tensor, names: tuple[str, ...]
) -> tuple[Tensor, tuple[str, ...]]:
    if bounds is None:
        low, high = X.min(0).values, X.max(0).values
        flat = low == high
        widened = torch.where(flat, low + 1.0, high)
        notes = ["no bounds were declared: the range of the data is used"]
        notes += [
            f"{names[j]!r} is constant in the data"
            for j in flat.nonzero().flatten().tolist()
        ]
        return torch.stack([low, widened]), tuple(notes)
    box = _bounds_tensor(bounds, X, names)
    low, high = box
    for j, name in enumerate(names):
        if not (torch.isfinite(box[:, j]).all() and low[j] < high[j]):
            raise BoundsError(
                f"the bounds of {name!r} are [{low[j].item():g}, {high[j].item():g}]: "
                "finite numbers with low < high are expected"
            )
    slack = OUTSIDE * (high - low)
    outside = X.lt(low - slack) | X.gt(high + slack)
    if bool(outside.any()):
        row, j = outside.nonzero()[0].tolist()
        raise BoundsError(
            f"{names[j]!r} is {X[row, j].item():g} in row {row}, outside its bounds "
            f"[{low[j].item():g}, {high[j].item():g}]: widen the bounds or drop the row"
        )
    return box, ()


def _bounds_tensor(bounds: Any, X: Tensor, names: tuple[str, ...]) -> Tensor:
    if isinstance(bounds, Mapping):
        bounds = {str(name): pair for name, pair in bounds.items()}
        unknown = sorted(set(bounds) - set(names))
        missing = [name for name in names if name not in bounds]
        if unknown or missing:
            raise ColumnError(
                f"bounds are expected for the columns {list(names)}; unknown: "
                f"{unknown}, missing: {missing}"
            )
        bounds = [bounds[name] for name in names]
    try:
        box = torch.as_tensor(np.asarray(bounds, dtype=np.float64)).to(X)
    except (TypeError, ValueError) as error:
        raise BoundsError(
            "bounds are expected as a (low, high) pair a column, got "
            f"{bounds!r:.120}: {error}"
        ) from error
    d = len(names)
    if box.shape == (2, d) and (d != 2 or torch.is_tensor(bounds)):
        return box
    if box.shape == (d, 2):
        return box.T.contiguous()
    raise BoundsError(
        f"bounds are expected as {d} pairs (low, high), or as a tensor 2 x {d}, got "
        f"{_shape(box)}"
    )


def _read_noise(noise: Any, y: Tensor) -> Tensor | None:
    if noise is None:
        return None
    variances = _read_tensor(noise, "noise").to(y)
    if variances.dim() == 2 and variances.shape[-1] == 1:
        variances = variances.squeeze(-1)
    if variances.shape not in (torch.Size([]), torch.Size([1]), y.shape):
        raise ShapeError(
            f"noise is expected as one variance or {len(y)}, got {_shape(variances)}"
        )
    if not bool((torch.isfinite(variances) & (variances >= 0)).all()):
        raise DataError("noise is a variance: finite numbers >= 0 are expected")
    return variances.expand(y.shape).clone()


def _check_repeats(
    X: Tensor, y: Tensor, noise: Tensor | None, target_name: str
) -> tuple[str, ...]:
    distinct, inverse = torch.unique(X, dim=0, return_inverse=True)
    repeated = len(X) - len(distinct)
    if not repeated:
        return ()
    if noise is not None and bool((noise == 0).any()):
        first = torch.full_like(distinct[:, 0], torch.nan)
        for i in (noise == 0).nonzero().flatten().tolist():
            group = int(inverse[i])
            if not torch.isnan(first[group]) and first[group] != y[i]:
                raise DataError(
                    f"row {i} repeats the inputs of another with a different "
                    f"{target_name!r}, but its noise is declared to be 0: average the "
                    "repeats, or declare noise > 0 or None"
                )
            first[group] = y[i]
    return (f"{repeated} of {len(X)} rows repeat the inputs of another",)


def _shape(values: Tensor) -> str:
    return " x ".join(map(str, values.shape)) or "a single number"
