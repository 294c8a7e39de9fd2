"""The scale on which a model adds up, in the words and units of the user."""

from __future__ import annotations

from dataclasses import dataclass

from botorch.models.transforms.outcome import Log, Standardize
from torch import Tensor

from bokern.errors import InputError
from bokern.models import StructuredGP
from bokern.models.outcome_steps import nonlinear_steps, outcome_steps
from bokern.models.yeo_johnson import YeoJohnson


@dataclass(frozen=True)
class Units:
    """From a model's units to those in which its parts add up.

    Those are raw units, unless the outcome transform is not linear: then they are
    those of the transformed outcome, before it was standardised.

    Args:
        shift: Added to means.
        scale: Multiplies means and standard deviations.
        name: Of the quantity, such as ``"log(y)"``.
        is_raw: Whether it is the target itself.
    """

    shift: float
    scale: float
    name: str
    is_raw: bool

    @classmethod
    def of(cls, model: StructuredGP) -> Units:
        """The units of a model's outcome.

        Raises:
            InputError: If a linear transform of it is no `Standardize`.
        """
        transform = getattr(model, "outcome_transform", None)
        bent = nonlinear_steps(transform)
        shift, scale, name = 0.0, 1.0, model.target_name
        for step in bent:
            name = _renamed(step, name)
        for step in reversed(outcome_steps(transform)[len(bent) :]):
            if not isinstance(step, Standardize):
                raise InputError(
                    f"parts under {type(step).__name__} have no known units: use "
                    "Standardize, or no linear outcome transform"
                )
            s, m = step.stdvs.double().item(), step.means.double().item()
            shift, scale = m + s * shift, s * scale
        return cls(shift, scale, name, not bent)

    def value(self, z: Tensor) -> Tensor:
        """A mean in these units, from one in the model's."""
        return self.shift + self.scale * z


def _renamed(step: object, name: str) -> str:
    if isinstance(step, Log):
        return f"log({name})"
    if isinstance(step, YeoJohnson):
        return f"Yeo–Johnson({name}, power {step.power.item():.3g})"
    return f"{type(step).__name__}({name})"
