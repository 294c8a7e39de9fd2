"""Transforms of outcomes from their text."""

from __future__ import annotations

import math
import re

import torch
from botorch.models.transforms.outcome import (
    ChainedOutcomeTransform,
    Log,
    OutcomeTransform,
    Standardize,
)
from torch import Tensor

from bokern.errors import InputError
from bokern.models.yeo_johnson import YeoJohnson

IDENTITY, LOG, YEO_JOHNSON = "identity", "log", "yeo-johnson"

QUARTILES_OF_NORMAL = 1.349
"""Distance of the quartiles of a standard normal: the scale is 1 for one."""


def read_outcome(text: str) -> tuple[str, float | None]:
    """Name and power of a transform from its text, such as ``yeo-johnson(0.3)``.

    Raises:
        InputError: If it is none of "identity", "log", "yeo-johnson" and
            "yeo-johnson(λ)" with λ in [0, 2].
    """
    pattern = rf"({IDENTITY}|{LOG}|{YEO_JOHNSON})|{YEO_JOHNSON}\(([^()]+)\)"
    match = re.fullmatch(pattern, text) if isinstance(text, str) else None
    if match is not None and match[1]:
        return match[1], None
    try:
        power = math.nan if match is None else float(match[2])
    except ValueError:
        power = math.nan
    if math.isnan(power):
        raise InputError(
            f"outcome is expected as '{IDENTITY}', '{LOG}', '{YEO_JOHNSON}' or "
            f"'{YEO_JOHNSON}(0.3)', got {text!r:.60}"
        )
    YeoJohnson(power)  # refuses powers out of range
    return YEO_JOHNSON, power


def yeo_johnson_text(power: float) -> str:
    """The text of a Yeo–Johnson transform."""
    return f"{YEO_JOHNSON}({power:.12g})"


def outcome_transform(
    text: str, y: Tensor, standardize: bool
) -> OutcomeTransform | None:
    """The transform that a text means on given targets, z-scores last.

    Yeo–Johnson's location is their median and its scale the distance of their
    quartiles over that of a standard normal, so that the units of y do not matter.

    Args:
        text: Such as ``"log"``; a Yeo–Johnson with its power.
        y: Targets, ``n``, raw units.
        standardize: Whether to z-score what comes out.

    Raises:
        InputError: If the targets cannot be transformed so, or a power is missing.
    """
    name, power = read_outcome(text)
    steps: dict[str, OutcomeTransform] = {}
    if name == LOG:
        least = float(y.min())
        if least <= 0.0:
            raise InputError(
                f"outcome='{LOG}' needs positive targets, the least is {least:g}: use "
                f"outcome='{YEO_JOHNSON}', or add a constant to y"
            )
        steps[LOG] = Log()
    elif name == YEO_JOHNSON:
        if power is None:
            raise InputError(
                f"a model needs the power of '{YEO_JOHNSON}', as in "
                f"'{YEO_JOHNSON}(0.3)': fit and compare find it"
            )
        steps[YEO_JOHNSON] = YeoJohnson(power, *_robust_units(y))
    for step in steps.values():
        _check_spread(step(y.unsqueeze(-1))[0], text)
    if standardize:
        steps["standardize"] = Standardize(1, min_stdv=0.0)
    if len(steps) > 1:
        return ChainedOutcomeTransform(**steps)
    return next(iter(steps.values()), None)


def _robust_units(y: Tensor) -> tuple[float, float]:
    """Median, and distance of the quartiles in units of a normal's."""
    levels = y.new_tensor([0.25, 0.5, 0.75]).double()
    low, middle, high = torch.quantile(y.double(), levels).tolist()
    scale = (high - low) / QUARTILES_OF_NORMAL
    return middle, scale if scale > 0.0 else y.double().std().item()


def _check_spread(z: Tensor, text: str) -> None:
    spread = z.std().item()
    if not (math.isfinite(spread) and spread > 0.0):
        raise InputError(
            f"the targets cannot be transformed by {text}: they come out constant or "
            f"beyond what {z.dtype} can square; use another outcome"
        )
