"""BoTorch's knowledge gradient, as Ax can build it on our models."""

from __future__ import annotations

from botorch.acquisition.knowledge_gradient import qKnowledgeGradient

FANTASIES = 16
"""Outcomes that are imagined of a candidate."""


class KnowledgeGradient(qKnowledgeGradient):
    """What a candidate is expected to raise the best posterior mean by."""
