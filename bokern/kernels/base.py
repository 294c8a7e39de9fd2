"""What all kernels share: columns, tied hyperparameters, priors, batches."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import partial
from types import MappingProxyType
from typing import Any

import torch
from gpytorch.constraints import Positive
from gpytorch.kernels import Kernel
from gpytorch.priors import Prior
from torch import Tensor, nn

from bokern import hyperpriors
from bokern.numerics import paired_squared_distance, scaled_squared_distance


class Columns(nn.Module):
    """The columns that a kernel reads, and which of them share hyperparameters.

    A plain module, so that GPyTorch's batch indexing leaves its index tensors alone.

    Args:
        index: Numbers of the columns.
        ties: One label a column; columns with equal labels share one value.
        dim: Number of columns of the input.
    """

    index: Tensor
    slot: Tensor

    def __init__(
        self, index: Sequence[int], ties: Sequence[int] | None, dim: int
    ) -> None:
        super().__init__()
        labels = [ties[j] for j in index] if ties is not None else list(index)
        distinct = list(dict.fromkeys(labels))
        slots = [distinct.index(label) for label in labels]
        self.size = len(index)
        self.num_slots = len(distinct)
        self._all = list(index) == list(range(dim))
        self._untied = slots == list(range(len(index)))
        self.register_buffer("index", torch.tensor(list(index)), persistent=False)
        self.register_buffer("slot", torch.tensor(slots), persistent=False)

    def select(self, x: Tensor) -> Tensor:
        """The columns of ``... x n x d`` inputs, ``... x n x size``."""
        return x if self._all else x[..., self.index]

    def replace(self, x: Tensor, values: Tensor) -> Tensor:
        """The inputs with these columns replaced by ``... x n x size`` values."""
        if self._all:
            return values
        shape = torch.broadcast_shapes(x.shape[:-1], values.shape[:-1])
        full = x.expand(*shape, x.shape[-1])
        return full.index_copy(-1, self.index, values.expand(*shape, self.size))

    def spread(self, value: Tensor) -> Tensor:
        """One value a column, ``... x 1 x size``, from ``... x 1 x num_slots``."""
        return value if self._untied else value[..., self.slot]


class StructureKernel(Kernel):
    """Base of all kernels, on the unit cube.

    ``forward`` is dense, made of twice differentiable operations, and broadcasts over
    leading dimensions of the hyperparameters.
    """

    def __init__(self, batch_shape: Sequence[int] = ()) -> None:
        super().__init__(batch_shape=torch.Size(batch_shape))

    own_evaluations = own_entries = 1
    """Times a part is evaluated for a pair of points, and how many of these are kept
    at a time."""

    waits: Mapping[str, float] = MappingProxyType({})
    """Raw values, an identity, where parameters stay in the first stage of a fit."""

    @property
    def parts(self) -> list[StructureKernel]:
        """Kernels that this one is made of."""
        found: list[StructureKernel] = []
        for child in self.children():
            holds = isinstance(child, nn.ModuleList | nn.ModuleDict)
            modules = child.children() if holds else (child,)
            found += [m for m in modules if isinstance(m, StructureKernel)]
        return found

    @property
    def evaluations(self) -> int:
        """Of the innermost base for a pair of points: what time goes by.

        More than 1 where an average over views evaluates its base at each of them.
        """
        below = max((part.evaluations for part in self.parts), default=1)
        return self.own_evaluations * below

    @property
    def entries(self) -> int:
        """A pair of points of the largest matrix of ``forward``: memory goes by it."""
        return self.own_entries * max((part.entries for part in self.parts), default=1)

    @property
    def num_features(self) -> int | None:
        """Length F of `features`; None of a kernel that is no finite sum."""
        return None

    @property
    def row_size(self) -> int:
        """Numbers that `features` holds at a time for a row."""
        below = max((part.row_size for part in self.parts), default=1)
        return max(self.num_features or 1, below)

    def features(self, x: Tensor) -> Tensor:
        r"""φ(x), ``... x n x F``, with $k(x, x') = \varphi(x)^T \varphi(x')$.

        Of kernels whose ``num_features`` is a number only.
        """
        raise NotImplementedError(f"{self.label} has no features")

    def beginning(self) -> StructureKernel:
        """What a fit begins with: itself, or a kernel of some of its hyperparameters.

        Of which there are the same names, shapes and priors.
        """
        return self

    @property
    def label(self) -> str:
        """What tables call this part of a kernel."""
        return type(self).__name__.removesuffix("Kernel")

    @abstractmethod
    def forward(
        self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any
    ) -> Tensor:
        """Covariances of ``... x n1 x d`` and ``... x n2 x d`` inputs.

        Returns:
            ``... x n1 x n2``; ``... x n`` of row i with row i if ``diag``.
        """

    def complement(self, x1: Tensor, x2: Tensor, diag: bool = False) -> Tensor:
        """One minus the kernel, as `forward` takes its arguments.

        Without subtracting near-equal numbers where a class knows how.
        """
        return 1.0 - self.forward(x1, x2, diag=diag)

    def likely_values(self, X: Tensor, z: Tensor) -> dict[str, Tensor]:
        """Raw values that the data suggest, of hyperparameters that are hard to find.

        Args:
            X: ``n x d`` inputs.
            z: ``n`` targets.

        Returns:
            By name of the parameter, ``m`` values in order, as often as they are
            likely; nothing unless a class says otherwise.
        """
        return {}

    def advised_starts(self) -> list[dict[str, float]]:
        """Starts of a fit to try beside those that are drawn.

        Returns:
            Raw values by the parameters' paths, one for all entries of each; parameters
            that are not named are at the centre of their prior. None unless a class
            says otherwise.
        """
        return []

    def register_hyperparameter(
        self,
        name: str,
        trailing_shape: Sequence[int],
        prior: Prior,
        positive: bool = True,
    ) -> None:
        """Adds a parameter ``raw_name``, in log coordinates if positive, and a prior.

        Positive ones start at 1, others at 0.
        """
        shape = (*self.batch_shape, *trailing_shape)
        raw = nn.Parameter(torch.zeros(shape, dtype=torch.float64))
        self.register_parameter(f"raw_{name}", raw)
        if positive:
            constraint = Positive(transform=torch.exp, inv_transform=torch.log)
            self.register_constraint(f"raw_{name}", constraint)
        read = partial(_read_hyperparameter, name=name)
        write = partial(_write_hyperparameter, name=name)
        self.register_prior(f"{name}_prior", prior, read, write)

    def hyperparameter(self, name: str) -> Tensor:
        """The constrained value of a registered hyperparameter."""
        return _read_hyperparameter(self, name)

    def initialize_hyperparameter(self, name: str, value: Tensor | float) -> None:
        """Sets a registered hyperparameter to a value that broadcasts to its shape."""
        raw = getattr(self, f"raw_{name}")
        value = torch.as_tensor(value, dtype=raw.dtype, device=raw.device)
        _write_hyperparameter(self, value.expand_as(raw), name)

    def __getitem__(self, index: Any) -> StructureKernel:
        if not self.batch_shape:
            return self
        index = index if isinstance(index, tuple) else (index,)
        batch_shape = torch.empty(self.batch_shape, device="meta")[index].shape

        def take(parameter: Tensor, batch_dims: int) -> Tensor:
            if not any(i is Ellipsis for i in index):
                return parameter[index]
            # An ellipsis would otherwise reach past the batch dimensions.
            trailing = (slice(None),) * (parameter.dim() - batch_dims)
            return parameter[(*index, *trailing)]

        return self._rebatched(batch_shape, take)

    def expand_batch(self, *sizes: Any) -> StructureKernel:
        """The same kernel with hyperparameters of a larger batch shape."""
        shape = torch.Size(sizes[0] if hasattr(sizes[0], "__iter__") else sizes)
        if shape == self.batch_shape:
            return self

        def expand(parameter: Tensor, batch_dims: int) -> Tensor:
            return parameter.expand(*shape, *parameter.shape[batch_dims:])

        return self._rebatched(shape, expand)

    def _rebatched(
        self, batch_shape: torch.Size, change: Callable[[Tensor, int], Tensor]
    ) -> StructureKernel:
        new = deepcopy(self)
        for module in new.modules():
            if isinstance(module, StructureKernel):
                batch_dims = len(module._batch_shape)
                for parameter in module.parameters(recurse=False):
                    parameter.data = change(parameter.data, batch_dims).clone()
                module._batch_shape = batch_shape
        return new


class ColumnKernel(StructureKernel):
    """Base of kernels that read columns, each with a lengthscale.

    Args:
        columns: Columns read, and their ties.
        prior: Of the lengthscales; that of one layer by default.
        initial: Where the lengthscales start.
        batch_shape: Leading dimensions of the hyperparameters.
    """

    def __init__(
        self,
        columns: Columns,
        prior: Prior | None = None,
        initial: float | None = None,
        batch_shape: Sequence[int] = (),
    ) -> None:
        super().__init__(batch_shape)
        self.columns = columns
        if prior is None:
            prior = hyperpriors.lengthscale(columns.size)
        if initial is None:
            initial = min(1.0, 0.3 * math.sqrt(columns.size))
        self.register_hyperparameter("lengthscale", (1, columns.num_slots), prior)
        self.initialize_hyperparameter("lengthscale", initial)

    def believe_lengthscale(self, prior: Prior, initial: float) -> None:
        """Another prior of the lengthscales, and where they start."""
        read = partial(_read_hyperparameter, name="lengthscale")
        write = partial(_write_hyperparameter, name="lengthscale")
        self.register_prior("lengthscale_prior", prior, read, write)
        self.initialize_hyperparameter("lengthscale", initial)

    @property
    def lengthscale(self) -> Tensor:
        """Lengthscales, ``batch x 1 x columns``."""
        return self.columns.spread(self.hyperparameter("lengthscale"))

    @lengthscale.setter
    def lengthscale(self, value: Tensor | float) -> None:
        self.initialize_hyperparameter("lengthscale", value)

    def scaled_square(self, x1: Tensor, x2: Tensor, diag: bool) -> Tensor:
        """Squared distances in units of the lengthscales, ``... x n`` if ``diag``."""
        z1, z2 = self.columns.select(x1), self.columns.select(x2)
        if diag:
            return paired_squared_distance(z1 / self.lengthscale, z2 / self.lengthscale)
        return scaled_squared_distance(z1, z2, self.lengthscale)


class WrapperKernel(StructureKernel):
    """Base of kernels around another one, whose lengthscales are theirs."""

    def __init__(self, base_kernel: StructureKernel) -> None:
        super().__init__(base_kernel.batch_shape)
        self.base_kernel = base_kernel

    @property
    def label(self) -> str:
        """The wrapper's name around that of the base."""
        return f"{super().label}({self.base_kernel.label})"

    @property
    def lengthscale(self) -> Tensor:
        """Lengthscales of the base, in its units."""
        return self.base_kernel.lengthscale

    @lengthscale.setter
    def lengthscale(self, value: Tensor | float) -> None:
        self.base_kernel.lengthscale = torch.as_tensor(value)


class OutputscaleKernel(WrapperKernel):
    r"""A base kernel times a variance.

    $$k(x, x') = \sigma_f^2\, k_{base}(x, x')$$

    Reduces to: its base at an outputscale of 1.
    Cost: that of the base.

    Args:
        base_kernel: The base.
        prior: Of the variance; that of z-scored outcomes by default.
    """

    def __init__(
        self, base_kernel: StructureKernel, prior: Prior | None = None
    ) -> None:
        super().__init__(base_kernel)
        prior = hyperpriors.outputscale() if prior is None else prior
        self.register_hyperparameter("outputscale", (), prior)

    @property
    def label(self) -> str:
        """That of the base, whose variance it is."""
        return self.base_kernel.label

    @property
    def outputscale(self) -> Tensor:
        """Variance, in units of the z-scored outcome squared."""
        return self.hyperparameter("outputscale")

    @property
    def is_stationary(self) -> bool:
        """Whether the base is."""
        return self.base_kernel.is_stationary

    @property
    def num_features(self) -> int | None:
        """Those of the base."""
        return self.base_kernel.num_features

    def features(self, x: Tensor) -> Tensor:
        """The base's times the standard deviation."""
        scale = self.outputscale.sqrt()[..., None, None]
        return self.base_kernel.features(x) * scale

    def forward(
        self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any
    ) -> Tensor:
        """The base's covariances times the variance."""
        base = self.base_kernel.forward(x1, x2, diag=diag)
        scale = self.outputscale
        return base * (scale[..., None] if diag else scale[..., None, None])


def _read_hyperparameter(kernel: StructureKernel, name: str) -> Tensor:
    raw = getattr(kernel, f"raw_{name}")
    constraint = kernel.constraint_for_parameter_name(f"raw_{name}")
    return raw if constraint is None else constraint.transform(raw)


def _write_hyperparameter(kernel: StructureKernel, value: Tensor, name: str) -> None:
    constraint = kernel.constraint_for_parameter_name(f"raw_{name}")
    raw = value if constraint is None else constraint.inverse_transform(value)
    kernel.initialize(**{f"raw_{name}": raw})
