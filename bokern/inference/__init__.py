"""Exact inference in O(n) for kernels of one column that have a Markov state."""

from bokern.inference.chain import Chain
from bokern.inference.form import MAX_STATE, markov_column, markov_prior, state_size
from bokern.inference.prior import MarkovPrior
from bokern.inference.smoother import Smoother

__all__ = [
    "MAX_STATE",
    "Chain",
    "MarkovPrior",
    "Smoother",
    "markov_column",
    "markov_prior",
    "state_size",
]
