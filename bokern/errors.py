"""Everything that bokern raises or warns about, as one tree.

Each message says what was expected, what came, and how to mend it.
"""

from __future__ import annotations


class BokernError(Exception):
    """Base of every error that bokern raises on purpose."""


class InputError(BokernError, ValueError):
    """What the caller passed in cannot be used."""


class ShapeError(InputError):
    """An array has the wrong number of dimensions, rows or columns."""


class DataError(InputError):
    """Values cannot be used: NaN, infinite, empty, not numbers, mixed dtypes."""


class BoundsError(InputError):
    """Bounds are malformed, or a point lies outside them."""


class ColumnError(InputError):
    """A column is named that does not exist, or is named twice."""


class StructureError(InputError):
    """A structure, or its text or JSON form, is malformed or unknown."""


class GroupError(InputError):
    """A group is malformed, too large, or does not act on the declared box."""


class SpaceError(InputError):
    """A search space, a budget or an acquisition is malformed."""


class TrialError(InputError):
    """A trial does not exist, or is not in a state for what is asked of it."""


class ExhaustedError(InputError):
    """Another point was asked for though every one of a finite space has been tried."""


class FitError(BokernError, RuntimeError):
    """No start led to a usable fit."""


class TimeLimitError(FitError):
    """A fit was ended because it took longer than allowed."""


class EvidenceError(BokernError):
    """The evidence of a model is not defined, for instance without a prior."""


class ComparisonError(EvidenceError):
    """Two evidences do not speak about the same data."""


class StorageError(BokernError):
    """A file cannot be read or written, or holds something else."""


class BokernWarning(UserWarning):
    """Base of every warning that bokern issues."""


class FitWarning(BokernWarning):
    """A fit failed or degraded; what was used instead is named."""


class EvidenceWarning(BokernWarning):
    """Evidences of different kinds are being compared."""
