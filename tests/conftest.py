"""What all tests share: a device, one thread, reproducible hypothesis."""

from __future__ import annotations

import pytest
import torch
from hypothesis import HealthCheck, settings

settings.register_profile(
    "bokern",
    deadline=None,
    derandomize=True,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("bokern")


def pytest_addoption(parser):
    parser.addoption(
        "--device",
        choices=("cpu", "cuda"),
        default="cpu",
        help="where tests that take the `device` fixture run",
    )


def pytest_configure(config):
    torch.set_num_threads(1)


def pytest_collection_modifyitems(config, items):
    reason = _no_gpu(config.getoption("--device"))
    if reason is None:
        return
    for item in items:
        if "cuda" in item.keywords:
            item.add_marker(pytest.mark.skip(reason=reason))


def _no_gpu(asked):
    if asked != "cuda":
        return "needs a GPU: run with --device cuda"
    return None if torch.cuda.is_available() else "torch sees no GPU"


@pytest.fixture
def device(request):
    """The device asked for with ``--device``."""
    asked = request.config.getoption("--device")
    if asked == "cuda" and not torch.cuda.is_available():
        pytest.skip("torch sees no GPU")
    return torch.device(asked)
