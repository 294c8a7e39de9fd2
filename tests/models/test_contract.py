"""What every model promises to BoTorch, over every class and many structures."""

from __future__ import annotations

import pickle
import pkgutil
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import gpytorch
import pytest
import torch
from botorch.acquisition.knowledge_gradient import qKnowledgeGradient
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.acquisition.objective import ScalarizedPosteriorTransform
from botorch.exceptions.errors import InputDataError
from botorch.fit import fit_gpytorch_mll
from botorch.models.model import Model
from botorch.models.transforms import Normalize, Standardize
from botorch.sampling.normal import SobolQMCNormalSampler
from botorch.sampling.pathwise import draw_matheron_paths
from botorch.utils.datasets import SupervisedDataset
from gpytorch.mlls import ExactMarginalLogLikelihood

import bokern.models
from bokern.models import MixtureGP, StateSpaceGP, StructuredGP, WeightSpaceGP
from bokern.structures import catalogue
from tests.kernels.examples import is_abstract
from tests.models.data import moments, points, randomize, training_data
from tests.tolerances import SUMS

pytestmark = pytest.mark.contract

NESTED = "Linear() * RBF(columns=[0]) + Invariant(Kumaraswamy(Matern(1.5)), cyclic(3))"
UNTIED = "Invariant(RBF(), swap(0, 2), tied=False)"
STRUCTURES = (*(entry.text for entry in catalogue()), NESTED, UNTIED)
FEW = ("RBF()", UNTIED, NESTED)
MARKOV = (
    "Matern(0.5, columns=[0])",
    "Linear(columns=[1]) + Matern(0.5, columns=[1]) * Matern(1.5, columns=[1])",
)
WEIGHED = (
    "SparseSpectrum(frequencies=64)",
    "Invariant(SparseSpectrum(nu=0.5, frequencies=32), cyclic(3))",
    "Linear() + SparseSpectrum(frequencies=2) * SparseSpectrum(frequencies=1, seed=1)",
)
"""Of more and of fewer features than there are points."""

GRADIENT = 1e-5
"""Central differences of a posterior: rounding over their step."""

MONTE_CARLO = 0.005
"""Two EIs by 2**13 quasi-random samples each, through different factorisations."""

EXPECTED_WARNINGS = (
    "ignore:`cache_root` is only supported:RuntimeWarning",
    "ignore:A not p.d., added jitter of 1.0e-08",
)
"""A mixture declines to be cached; an orbit has a covariance of rank one."""

SINGLE = 2e-3
"""Posterior moments in float32: K's condition number times 1e-7."""


@dataclass(frozen=True)
class Example:
    """How a model of a class is built.

    Args:
        cls: The class.
        options: Its own arguments.
    """

    cls: type[Model]
    options: dict[str, Any] = field(default_factory=dict)

    def build(self, *data, **options) -> Model:
        return self.cls(*data, **(self.options | options))

    @property
    def ensemble(self) -> bool:
        return self.cls._is_ensemble

    def __str__(self) -> str:
        return "-".join([self.cls.__name__, *map(str, self.options.values())])


EXAMPLES: dict[type[Model], tuple[Example, ...]] = {
    StructuredGP: tuple(Example(StructuredGP, {"structure": s}) for s in STRUCTURES),
    StateSpaceGP: tuple(
        Example(StateSpaceGP, {"structure": s})
        for s in (*MARKOV, "Matern(2.5, columns=[0])")
    ),
    WeightSpaceGP: tuple(Example(WeightSpaceGP, {"structure": s}) for s in WEIGHED),
    MixtureGP: (Example(MixtureGP, {"structures": FEW, "weights": (0.5, 0.25, 0.25)}),),
}
ALL = [example for examples in EXAMPLES.values() for example in examples]
LISTED = (*FEW, *MARKOV, *WEIGHED[:2])
CHOSEN = [e for e in ALL if e.ensemble or e.options["structure"] in LISTED]
BATCHED = [e for e in CHOSEN if not e.ensemble]


def over(examples: list[Example]) -> Callable[[Callable], Callable]:
    return pytest.mark.parametrize("example", examples, ids=str)


def test_every_model_class_has_an_example():
    found = set()
    for module in pkgutil.iter_modules(bokern.models.__path__, "bokern.models."):
        for value in vars(import_module(module.name)).values():
            is_model = isinstance(value, type) and issubclass(value, Model)
            ours = is_model and value.__module__.startswith("bokern.models")
            if ours and not is_abstract(value):
                found.add(value)
    assert found == set(EXAMPLES)


# -- 1. posteriors ------------------------------------


@over(ALL)
@pytest.mark.parametrize("lead", [(), (2,), (3, 2)])
def test_posterior_shapes(example, device, lead):
    model = randomize(example.build(*training_data(device=device)))
    X = points(*lead, 4, device=device)
    posterior = model.posterior(X)
    mean, variance = moments(posterior)
    assert mean.shape == variance.shape == (*lead, 4, 1)
    assert mean.device.type == device.type
    assert bool((variance > 0).all())
    if example.ensemble:
        assert posterior.mean.shape == (*lead, *model.batch_shape, 4, 1)
    noisy = moments(model.posterior(X, observation_noise=True))
    torch.testing.assert_close(noisy[0], mean)
    assert bool((noisy[1] > variance).all())
    amount = torch.full((4, 1), 0.25, dtype=X.dtype, device=device)
    with_tensor = moments(model.posterior(X, observation_noise=amount))[1]
    transform = getattr(model, "outcome_transform", None)
    if transform is None:
        transform = model.members[0].outcome_transform
    expected = variance + 0.25 * transform.stdvs.square().squeeze()
    torch.testing.assert_close(with_tensor, expected)
    turned = ScalarizedPosteriorTransform(
        torch.tensor([-2.0], dtype=X.dtype, device=device)
    )
    scaled = model.posterior(X, posterior_transform=turned)
    torch.testing.assert_close(scaled.mean, -2.0 * posterior.mean)
    torch.testing.assert_close(scaled.variance, 4.0 * posterior.variance)


@over([e for e in ALL if not e.ensemble])
@pytest.mark.parametrize("known_noise", [False, True])
@pytest.mark.parametrize(("batch", "m"), [((3,), 1), ((), 2), ((2,), 2)])
def test_batches_and_outcomes_are_independent_models(
    example, device, batch, m, known_noise
):
    X, Y = training_data(*batch, m=m, device=device)
    Yvar = torch.full_like(Y, 0.04) if known_noise else None
    model = randomize(example.build(X, Y, Yvar))
    assert model.batch_shape == torch.Size(batch)
    assert model.num_outputs == m
    at = points(*batch, 5, device=device)
    mean, variance = moments(model.posterior(at))
    assert mean.shape == (*batch, 5, m)
    shared = moments(model.posterior(at[0] if batch else at))[0]
    assert shared.shape == (*batch, 5, m)
    whole = model.log_posterior().get()
    for index in torch.cartesian_prod(
        *(torch.arange(s) for s in (*batch, m)[: len(batch) + 1])
    ).reshape(-1, len(batch) + 1):
        place, outcome = tuple(index[:-1].tolist()), int(index[-1])
        noise = None if Yvar is None else Yvar[(*place, ..., [outcome])]
        alone = example.build(X[place], Y[(*place, ..., [outcome])], noise)
        own = whole[place]
        alone.log_posterior().set(own[outcome] if m > 1 else own)
        expected = moments(alone.train().eval().posterior(at[place]))
        torch.testing.assert_close(mean[(*place, ..., [outcome])], expected[0])
        torch.testing.assert_close(variance[(*place, ..., [outcome])], expected[1])


@over(BATCHED)
@pytest.mark.parametrize("known_noise", [False, True])
def test_output_indices_and_subset(example, known_noise):
    X, Y = training_data(m=3)
    Yvar = torch.rand_like(Y) * 0.1 + 0.01 if known_noise else None
    model = randomize(example.build(X, Y, Yvar))
    at = points(2, 4)
    mean, variance = moments(model.posterior(at))
    for chosen in ([1], [0, 2], [2, 1]):
        picked = moments(model.posterior(at, output_indices=chosen))
        torch.testing.assert_close(picked[0], mean[..., chosen])
        torch.testing.assert_close(picked[1], variance[..., chosen])
        subset = model.subset_output(chosen)
        assert subset.num_outputs == len(chosen)
        own = moments(subset.posterior(at))
        torch.testing.assert_close(own[0], mean[..., chosen])
        torch.testing.assert_close(own[1], variance[..., chosen])


# -- 2. differentiable and deterministic ------------------------------------


@over(ALL)
def test_gradients_in_x_and_repeated_calls(example, device):
    model = randomize(example.build(*training_data(device=device)))
    X = points(1, 2, device=device).requires_grad_(True)
    for part in (0, 1):
        assert torch.autograd.gradcheck(
            lambda x, part=part: moments(model.posterior(x))[part],
            X,
            atol=GRADIENT,
            rtol=GRADIENT,
        )
    first, second = moments(model.posterior(X)), moments(model.posterior(X))
    assert torch.equal(first[0], second[0])
    assert torch.equal(first[1], second[1])


# -- 3. fitting ------------------------------------


@over(BATCHED)
@pytest.mark.parametrize(("batch", "m"), [((2,), 1), ((), 2)])
def test_fits_each_element_as_if_alone(example, batch, m):
    X, Y = training_data(*batch, m=m)
    model = example.build(X, Y, starts=2)
    mll = ExactMarginalLogLikelihood(model.likelihood, model)
    assert fit_gpytorch_mll(mll) is mll
    assert not model.training
    mean = moments(model.posterior(points(4)))[0]
    for i, result in enumerate(model.fit_results):
        own = (X[i], Y[i]) if batch else (X, Y[:, [i]])
        alone = example.build(*own, starts=2)
        fit_gpytorch_mll(ExactMarginalLogLikelihood(alone.likelihood, alone))
        assert result.objective == pytest.approx(alone.fit_result.objective, abs=1e-8)
        expected = moments(alone.posterior(points(4)))[0].squeeze(-1)
        found = mean[i].squeeze(-1) if batch else mean[:, i]
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


@over(CHOSEN)
def test_fit_raises_the_log_posterior_of_every_part(example, device):
    X, Y = training_data(device=device)
    model = example.build(X, Y, starts=1)
    parts = list(model.members) if example.ensemble else [model]
    before = [p.log_posterior()(p.log_posterior().get()).item() for p in parts]
    mll = ExactMarginalLogLikelihood(model.likelihood, model)
    fit_gpytorch_mll(mll)
    for part, value in zip(parts, before, strict=True):
        assert part.fit_result.objective > value


# -- 4 and 5. states ------------------------------------


def _state_of(model: Model) -> list[torch.Tensor]:
    return [p.detach().clone() for p in model.parameters()]


@over(CHOSEN)
def test_train_eval_train_keeps_the_inputs(example):
    X, Y = training_data()
    X = 7.0 * X - 2.0
    model = example.build(X, Y, input_transform=Normalize(3))
    for _ in range(2):
        model.eval()
        model.posterior(X[:2])
        model.train()
        assert torch.equal(model.train_inputs[0], X)


@over(CHOSEN)
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("evaluated", [True, False])
def test_state_dict_into_an_equal_model(example, standardize, evaluated):
    X, Y = training_data()

    def build() -> Model:
        outcome = Standardize(1) if standardize else None
        own = 5.0 * X
        return example.build(
            own, Y, outcome_transform=outcome, input_transform=Normalize(3)
        )

    model, other = randomize(build()), build()
    at = 5.0 * points(4)
    if evaluated:
        other.posterior(at)
    other.load_state_dict(model.state_dict())
    expected, found = moments(model.posterior(at)), moments(other.posterior(at))
    torch.testing.assert_close(found[0], expected[0])
    torch.testing.assert_close(found[1], expected[1])


@over(CHOSEN)
def test_state_dict_into_a_model_of_fewer_points(example):
    X, Y = training_data()
    model = randomize(example.build(X, Y))
    fold = example.build(X[:-1], Y[:-1])
    fold.load_state_dict(model.state_dict())
    for mine, theirs in zip(fold.parameters(), model.parameters(), strict=True):
        assert torch.equal(mine, theirs)
    parts = list(fold.members) if example.ensemble else [fold]
    for part in parts:
        torch.testing.assert_close(part.raw_targets, Y[:-1])
    mean, _ = moments(fold.eval().posterior(X[-1:]))
    full, _ = moments(model.posterior(X[-1:]))
    assert abs((mean - Y[-1]).item()) > abs((full - Y[-1]).item())


@over(ALL)
def test_pickle_and_deepcopy_after_a_gradient(example):
    model = randomize(example.build(*training_data(), input_transform=Normalize(3)))
    X = points(3).requires_grad_(True)
    moments(model.posterior(X))[0].sum().backward()
    expected = moments(model.posterior(X.detach()))
    for copy in (deepcopy(model), pickle.loads(pickle.dumps(model))):
        found = moments(copy.posterior(X.detach()))
        torch.testing.assert_close(found[0], expected[0])
        torch.testing.assert_close(found[1], expected[1])


@over(ALL)
@pytest.mark.filterwarnings("ignore:The model inputs are of type torch.float32")
def test_float32(example, device):
    X, Y = training_data(device=device)
    model = randomize(example.build(X, Y))
    single = example.build(X.float(), Y.float())
    single.load_state_dict(model.state_dict())
    assert {p.dtype for p in single.parameters()} == {torch.float32}
    at = points(4, device=device)
    found = moments(single.eval().posterior(at.float()))
    expected = moments(model.posterior(at))
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == torch.float32
        torch.testing.assert_close(a.double(), b, rtol=20 * SINGLE, atol=SINGLE)


# -- 6. acquisitions and conditioning ------------------------------------


@over(CHOSEN)
@pytest.mark.filterwarnings(*EXPECTED_WARNINGS)
@pytest.mark.parametrize("baseline", [2, 5, 12])
def test_noisy_ei_cached_and_not(example, baseline):
    model = randomize(example.build(*training_data(n=5)))
    sampler = SobolQMCNormalSampler(torch.Size([2**13]), seed=0)
    values = [
        qLogNoisyExpectedImprovement(
            model,
            X_baseline=points(baseline, seed=4),
            sampler=deepcopy(sampler),
            prune_baseline=False,
            cache_root=cached,
        )(points(4, 2, seed=5))
        for cached in (True, False)
    ]
    assert values[0].shape == (4,)
    cached, plain = (value.exp() for value in values)
    assert plain.max() > 5.0 * MONTE_CARLO
    torch.testing.assert_close(cached, plain, rtol=0.0, atol=MONTE_CARLO)


@over(CHOSEN)
@pytest.mark.filterwarnings(*EXPECTED_WARNINGS)
@pytest.mark.parametrize("cached", [True, False])
def test_points_of_one_orbit_in_a_batch(example, cached):
    X, Y = training_data()
    model = randomize(example.build(X, Y))
    point = points(1, 1)
    orbit = torch.cat([point, point.roll(1, -1), point[..., [2, 1, 0]]], -2)
    orbit = orbit.requires_grad_(True)
    acquisition = qLogNoisyExpectedImprovement(
        model,
        X_baseline=torch.cat([X, X[:2, [2, 1, 0]], X[:2].roll(1, -1)]),
        sampler=SobolQMCNormalSampler(torch.Size([64]), seed=0),
        prune_baseline=False,
        cache_root=cached,
    )
    value = acquisition(orbit)
    (gradient,) = torch.autograd.grad(value.sum(), orbit)
    assert bool(torch.isfinite(value).all())
    assert bool(torch.isfinite(gradient).all())


@over(CHOSEN)
@pytest.mark.parametrize("known_noise", [False, True])
def test_knowledge_gradient_and_fantasies(example, known_noise):
    X, Y = training_data()
    Yvar = torch.full_like(Y, 0.05) if known_noise else None
    model = randomize(example.build(X, Y, Yvar))
    sampler = SobolQMCNormalSampler(torch.Size([2]), seed=0)
    fantasy = model.fantasize(points(4, 1), deepcopy(sampler))
    mean, _ = moments(fantasy.posterior(points(3)))
    assert mean.shape == (2, 4, 3, 1)
    if example.ensemble:
        return
    acquisition = qKnowledgeGradient(model, num_fantasies=2, sampler=sampler)
    at = points(4, 3, seed=2).requires_grad_(True)
    value = acquisition(at)
    assert value.shape == (4,)
    (gradient,) = torch.autograd.grad(value.sum(), at)
    assert bool(torch.isfinite(gradient).all())
    assert gradient[:, 0].norm() > 0.0


@over(ALL)
@pytest.mark.parametrize("known_noise", [False, True])
@pytest.mark.parametrize("lead", [(), (2,)])
def test_conditioning_equals_a_model_of_all_data(example, known_noise, lead):
    X, Y = training_data()
    Yvar = torch.full_like(Y, 0.05) if known_noise else None
    plain = {"outcome_transform": None, "input_transform": _unit_box()}
    model = randomize(example.build(X, Y, Yvar, **plain))
    new_X = points(*lead, 2, seed=7)
    new_Y = new_X.sum(-1, keepdim=True)
    model.posterior(new_X)
    extra = {"noise": torch.full_like(new_Y, 0.02)} if known_noise else {}
    conditioned = model.condition_on_observations(new_X, new_Y, **extra)
    at = points(3, seed=8)
    found = conditioned.posterior(at)
    for index in range(max(1, len(lead) and lead[0])):
        own_X, own_Y = (new_X[index], new_Y[index]) if lead else (new_X, new_Y)
        noise = None
        if Yvar is not None:
            noise = torch.cat([Yvar, torch.full_like(own_Y, 0.02)])
        everything = example.build(
            torch.cat([X, own_X]), torch.cat([Y, own_Y]), noise, **plain
        )
        everything.load_state_dict(model.state_dict())
        if example.ensemble:
            own = conditioned.weights[index] if lead else conditioned.weights
            everything = MixtureGP.from_members(list(everything.members), own)
            shares = (everything.slot_weights, conditioned.slot_weights)
            if not torch.equal(shares[0], shares[1][index] if lead else shares[1]):
                pytest.skip("the slots of a batch are those of its hardest element")
        expected = moments(everything.eval().posterior(at))
        for a, b in zip(moments(found), expected, strict=True):
            torch.testing.assert_close(a[index] if lead else a, b, rtol=SUMS, atol=1e-9)


def _unit_box() -> Normalize:
    bounds = torch.tensor([[-1.0] * 3, [2.0] * 3], dtype=torch.float64)
    return Normalize(3, bounds=bounds)


# -- 7. paths ------------------------------------


@over([e for e in ALL if e.cls is not WeightSpaceGP])
def test_matheron_paths_are_refused_rather_than_wrong(example):
    model = randomize(example.build(*training_data(), outcome_transform=None))
    with pytest.raises(NotImplementedError):
        draw_matheron_paths(model, torch.Size([2]))


# -- 9. bad data ------------------------------------


@over(CHOSEN)
@pytest.mark.filterwarnings("ignore:Very small noise values detected")
@pytest.mark.parametrize("case", ["constant", "repeats", "one", "tiny", "zero"])
def test_degenerate_data_fit(example, case):
    X, Y = training_data(n=1 if case == "one" else 10)
    Yvar = None
    if case == "constant":
        Y = torch.full_like(Y, 2.5)
    if case in ("repeats", "tiny", "zero"):
        X, Y = X[:2].repeat(5, 1), Y[:2].repeat(5, 1)
    if case in ("tiny", "zero"):
        Yvar = torch.full_like(Y, 1e-10 if case == "tiny" else 0.0)
    model = example.build(X, Y, Yvar, starts=1)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    mean, variance = moments(model.posterior(points(3)))
    assert bool(torch.isfinite(mean).all())
    assert bool((torch.isfinite(variance) & (variance >= 0.0)).all())
    if case in ("constant", "repeats", "tiny", "zero"):
        at_data = moments(model.posterior(X[:2]))[0]
        torch.testing.assert_close(at_data, Y[:2], rtol=0.0, atol=0.2)


@over(CHOSEN)
@pytest.mark.parametrize("bad", ["X", "Y"])
def test_nan_is_an_input_data_error(example, bad):
    X, Y = training_data()
    (X if bad == "X" else Y)[3, 0] = torch.nan
    with pytest.raises(InputDataError):
        example.build(X, Y)


# -- section 2 and 4 ------------------------------------


@over(CHOSEN)
def test_construct_inputs_takes_names_and_what_ax_adds(example):
    X, Y = training_data()
    dataset = SupervisedDataset(
        X, Y, feature_names=["a", "b", "c"], outcome_names=["loss"]
    )
    named = {"structure": "Kumaraswamy(RBF(columns=['c']), columns=['b', 'c'])"}
    text = "Kumaraswamy(RBF(columns=[2]), columns=[1, 2])"
    if example.ensemble:
        named = {"structures": ("RBF(columns=['b'])", named["structure"])}
    if example.cls is WeightSpaceGP:
        named, text = (
            {"structure": "SparseSpectrum(columns=['c'])"},
            "SparseSpectrum(columns=[2])",
        )
    if example.cls is StateSpaceGP:
        named, text = (
            {"structure": "Matern(0.5, columns=['c'])"},
            "Matern(0.5, columns=[2])",
        )
    arguments = example.cls.construct_inputs(
        dataset,
        **named,
        categorical_features=None,
        fidelity_features=[],
        task_feature=None,
        hierarchical_dependencies=None,
    )
    model = example.cls(**arguments)
    parts = list(model.members) if example.ensemble else [model]
    assert str(parts[-1].structure) == text
    if example.ensemble:
        assert str(parts[0].structure) == "RBF(columns=[1])"
    X[:, 1:] = 0.5
    found = parts[-1].posterior(torch.cat([X, X[:, [0]].expand(-1, 0)], -1))
    assert found.mean.std() < 1e-8


@over(CHOSEN)
def test_global_settings_do_not_change_predictions(example):
    X, Y = training_data()
    model = randomize(example.build(X, Y))
    expected = moments(model.posterior(points(4)))
    with (
        gpytorch.settings.fast_computations(True, True, True),
        gpytorch.settings.max_cholesky_size(2000),
    ):
        found = moments(randomize(example.build(X, Y)).posterior(points(4)))
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b, rtol=SUMS, atol=SUMS)
