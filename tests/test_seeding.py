"""Seeds depend on what they are for."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import torch

from bokern.seeding import generator, spawn


def test_a_seed_is_the_digest_of_its_parts():
    digest = hashlib.sha256(b"fit\x1f3\x1fRBF()").digest()
    expected = int.from_bytes(digest[:4], "big") % 2**31
    assert spawn("fit", 3, "RBF()") == expected


def test_parts_and_their_order_matter():
    seeds = {
        spawn("a", "b"),
        spawn("b", "a"),
        spawn("ab"),
        spawn("a", "b", 0),
        spawn("a", 1),
    }
    assert len(seeds) == 5
    assert all(0 <= seed < 2**31 for seed in seeds)


def test_seeds_are_spread_evenly():
    """Means of 4000 uniform numbers lie within 4.5 standard errors: 1e-5."""
    numbers = [spawn("spread", i) / 2**31 for i in range(4000)]
    assert abs(sum(numbers) / 4000 - 0.5) < 4.5 / (12 * 4000) ** 0.5


def test_a_seed_does_not_depend_on_the_process():
    code = "from bokern.seeding import spawn; print(spawn('x', 1.5, ('y',)))"
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for hash_seed in ("1", "2")
    }
    assert seen == {str(spawn("x", 1.5, ("y",)))}


def test_generators_repeat():
    a, b = (torch.rand(3, generator=generator("job", 1)) for _ in range(2))
    assert torch.equal(a, b)
    assert not torch.equal(a, torch.rand(3, generator=generator("job", 2)))
