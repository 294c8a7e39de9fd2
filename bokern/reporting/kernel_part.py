"""The part of a model's kernel that a figure opens, and the parameters it reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from bokern.errors import InputError
from bokern.kernels import ConditionalDeepKernel, KumaraswamyKernel, WarpKernel
from bokern.models import StructuredGP
from bokern.reporting.observations import Observed

__all__ = ["KernelPart", "part_of"]

Part = TypeVar("Part", ConditionalDeepKernel, WarpKernel)


@dataclass(frozen=True)
class KernelPart(Generic[Part]):
    """A kernel of a model, and what it reads.

    Attributes:
        kernel: On the unit cube.
        columns: Numbers of those that it reads, in its order.
        axes: Of each of these, the number of the parameter.
    """

    kernel: Part
    columns: tuple[int, ...]
    axes: tuple[int, ...]

    def inputs(self, data: Observed, places: NDArray[np.float64]) -> Tensor:
        """What the kernel is given at places, m x p, as m x d."""
        model = data.model
        X = data.inputs(places).to(next(model.parameters()))
        given: Tensor = model.transform_inputs(X)
        return given


def part_of(data: Observed, kind: type[Part], example: str) -> KernelPart[Part]:
    """The first kernel of a kind that reads the parameters themselves.

    Args:
        data: Whose model is searched.
        kind: Of the kernel.
        example: A structure that has one, for the error.

    Raises:
        InputError: If the model has none, or only such as read warped parameters.
    """
    model = data.model
    modules = model.covar_module.modules() if isinstance(model, StructuredGP) else ()
    kernels = list(modules)
    found = [kernel for kernel in kernels if isinstance(kernel, kind)]
    if not found:
        raise InputError(
            f"expected a model with a part such as {example}, got "
            f"{data.described or type(model).__name__}"
        )
    warps = [kernel for kernel in kernels if isinstance(kernel, KumaraswamyKernel)]
    inside = {id(part) for warp in warps for part in warp.modules()}
    kernel = next((kernel for kernel in found if id(kernel) not in inside), None)
    if kernel is None:
        raise InputError(
            f"expected a part such as {example} of the parameters themselves, got one "
            f"of warped ones: {data.described}"
        )
    columns = tuple(kernel.columns.index.tolist())
    owner = [i for i, axis in enumerate(data.axes) for _ in axis.columns]
    return KernelPart(kernel, columns, tuple(owner[column] for column in columns))
