from __future__ import annotations

import pytest

from tests.reporting.fakes import (
    FakeComparison,
    FakeOptimization,
    make_comparison,
    make_optimization,
)


@pytest.fixture
def comparison() -> FakeComparison:
    return make_comparison(1)


@pytest.fixture
def optimization() -> FakeOptimization:
    return make_optimization(optimum=0.0)
