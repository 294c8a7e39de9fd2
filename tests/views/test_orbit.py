"""The action of groups on points."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bokern.views import Identity, Orbit, cyclic, product, reflections, swap
from tests import strategies, tolerances
from tests.oracles.group_actions import act


@pytest.mark.property
@given(strategies.groups(4), st.integers(0, 99))
def test_images_are_those_of_the_elements(group, seed):
    x = torch.rand(3, 4, generator=torch.Generator().manual_seed(seed)).double()
    images = Orbit(group, 4)(x)
    expected = [[act(g, p) for p in x.tolist()] for g in group.elements(4)]
    torch.testing.assert_close(images, images.new_tensor(expected))
    assert torch.equal(images[0], x), "the identity comes first"
    assert images.min() >= 0.0
    assert images.max() <= 1.0


@pytest.mark.property
@given(strategies.groups(4))
def test_acting_twice_is_acting_with_the_product(group):
    x = torch.tensor([[0.13, 0.29, 0.53, 0.77]], dtype=torch.float64)
    orbit = Orbit(group, 4)
    once = orbit(x).reshape(orbit.order, 4)
    twice = orbit(once)
    for images in twice.unbind(-2):
        distance = (images.unsqueeze(-2) - once).abs().amax(-1).min(-1)
        assert distance.values.max() < tolerances.ROUNDING
        assert len(set(distance.indices.tolist())) == orbit.order


def test_leading_dimensions_dtype_and_gradient():
    orbit = Orbit(product(cyclic(2, [0, 1]), reflections(2)), 3)
    x = torch.rand(2, 5, 4, 3, dtype=torch.float32, requires_grad=True)
    images = orbit(x)
    assert images.shape == (2, 5, orbit.order, 4, 3)
    assert images.dtype == torch.float32
    (gradient,) = torch.autograd.grad(images[..., 0].sum() + images[..., 2].sum(), x)
    expected = torch.tensor([2.0, 2.0, 0.0])
    assert torch.equal(gradient, expected.expand_as(gradient))


def test_identity_is_one_view():
    x = torch.rand(2, 3, 4)
    assert Identity().order == 1
    assert torch.equal(Identity()(x), x.unsqueeze(-3))


def test_index_tensors_follow_the_module_and_are_not_state(device):
    orbit = Orbit(swap(0, 1), 2).to(device)
    assert orbit.state_dict() == {}
    x = torch.rand(3, 2, device=device)
    assert orbit(x).device.type == device.type
    with torch.device("meta"):
        assert orbit(x).device.type == device.type
