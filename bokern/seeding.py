"""Seeds that depend on what they are for, not on the order of the work.

A seed is drawn from SHA-256 over the parts that name a job, so that a result does
not change with the number of workers or with Python's hash randomisation.
"""

from __future__ import annotations

import hashlib

import torch


def spawn(*parts: object) -> int:
    """A seed in ``[0, 2**31)`` from the text of the parts, in their order."""
    text = "\x1f".join(str(part) for part in parts)
    digest = hashlib.sha256(text.encode()).digest()
    return int.from_bytes(digest[:4], "big") % 2**31


def generator(*parts: object) -> torch.Generator:
    """A CPU generator seeded by ``spawn(*parts)``."""
    return torch.Generator().manual_seed(spawn(*parts))
