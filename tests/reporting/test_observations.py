"""What a fitted model shows of itself: data in raw units, names."""

from __future__ import annotations

import pandas as pd
import pytest
import torch
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize

import bokern
from bokern.reporting.surrogate import modelled as observed

FRAME = pd.DataFrame({"heat": [1.0, 2.0, 4.0, 7.0, 9.0]})
LOSS = pd.Series([3.0, 0.0, -1.0, 2.0, 5.0], name="loss")


def test_a_fitted_model_keeps_its_names() -> None:
    model = bokern.fit("RBF()", FRAME, LOSS, starts=1)
    shown = observed(model)
    assert (shown.column_names, shown.target_name) == (("heat",), "loss")
    # To the last bit: a 0 does not come back as 1e-17.
    assert shown.y.tolist() == LOSS.tolist()
    assert shown.X.squeeze(-1).tolist() == pytest.approx(FRAME["heat"].tolist())


@pytest.mark.parametrize("training", [True, False])
def test_a_model_of_botorch_shows_its_data_too(training: bool) -> None:
    X, y = torch.tensor(FRAME.to_numpy()), torch.tensor(LOSS.to_numpy())
    model = SingleTaskGP(X, y.unsqueeze(-1), input_transform=Normalize(1))
    shown = observed(model.train(training))
    assert (shown.column_names, shown.target_name) == (("x0",), "y")
    torch.testing.assert_close(shown.X, X)
    torch.testing.assert_close(shown.y, y)
