"""The default priors, by SciPy's densities."""

from __future__ import annotations

import math

import gpytorch.priors
import pytest
import torch
from scipy import stats

from bokern import hyperpriors
from bokern.structures import KernelSpace, parse

pytestmark = pytest.mark.oracle


def log_normal(loc, scale):
    return stats.lognorm(scale, scale=math.exp(loc))


def lengthscale(dim):
    return log_normal(math.sqrt(2.0) + 0.5 * math.log(dim), math.sqrt(3.0))


def latent_lengthscale(dim):
    return log_normal(math.log(0.3 * math.sqrt(dim)), 0.7)


OUTPUTSCALE = log_normal(0.0, 1.0)
CONCENTRATION = log_normal(0.0, 0.75)

PRIORS = {
    "lengthscale(1)": (hyperpriors.lengthscale(1), lengthscale(1)),
    "lengthscale(7)": (hyperpriors.lengthscale(7), lengthscale(7)),
    "outputscale": (hyperpriors.outputscale(), OUTPUTSCALE),
    "success outputscale": (
        hyperpriors.success_outputscale(),
        log_normal(math.log(9.0), 1.0),
    ),
    "excess noise": (hyperpriors.excess_noise(), log_normal(-4.0, 1.0)),
    "mean": (hyperpriors.mean(), stats.norm(0.0, 1.0)),
    "period": (hyperpriors.period(), log_normal(math.log(0.3), 1.0)),
    "periodic lengthscale": (
        hyperpriors.periodic_lengthscale(),
        log_normal(0.0, 1.0),
    ),
    "mixture shape": (hyperpriors.mixture_shape(), log_normal(math.log(2.0), 1.0)),
    "offset": (hyperpriors.offset(), stats.norm(0.5, 0.5)),
    "change location": (hyperpriors.change_location(), stats.norm(0.0, 1.0)),
    "change width": (hyperpriors.change_width(), log_normal(math.log(0.05), 1.0)),
    "concentration": (hyperpriors.concentration(), CONCENTRATION),
    "latent scale": (hyperpriors.latent_scale(), log_normal(math.log(0.5), 1.0)),
    "latent lengthscale(1)": (
        hyperpriors.latent_lengthscale(1),
        latent_lengthscale(1),
    ),
    "latent lengthscale(4)": (
        hyperpriors.latent_lengthscale(4),
        latent_lengthscale(4),
    ),
}


def agree(prior, law):
    x = torch.tensor([0.03, 0.4, 1.0, 7.0], dtype=torch.float64)
    ours = prior.log_prob(x)
    assert ours.dtype == torch.float64
    assert ours.tolist() == pytest.approx(law.logpdf(x.numpy()).tolist(), abs=1e-10)


@pytest.mark.parametrize(("prior", "law"), PRIORS.values(), ids=PRIORS)
def test_densities(prior, law):
    agree(prior, law)


def test_a_change_point_is_uniform_on_the_range():
    """Equal shares of the prior of its score are equal parts of the range."""
    kernel = parse("ChangePoint(RBF(), RBF())").kernel(KernelSpace(1))
    for share in (0.01, 0.25, 0.5, 0.9):
        score = stats.norm(0.0, 1.0).ppf(share)
        kernel.initialize_hyperparameter("location_score", score)
        assert kernel.location.item() == pytest.approx(share, abs=1e-12)


def test_noise_floor():
    assert hyperpriors.NOISE_FLOOR == 1e-4


OF_KERNELS = {
    "RBF()": {"outputscale": OUTPUTSCALE, "lengthscale": lengthscale(3)},
    "RBF(columns=[1])": {"outputscale": OUTPUTSCALE, "lengthscale": lengthscale(1)},
    "Matern(0.5)": {"outputscale": OUTPUTSCALE, "lengthscale": lengthscale(3)},
    "RationalQuadratic()": {
        "outputscale": OUTPUTSCALE,
        "lengthscale": lengthscale(3),
        "alpha": log_normal(math.log(2.0), 1.0),
    },
    "Periodic()": {
        "outputscale": OUTPUTSCALE,
        "lengthscale": log_normal(0.0, 1.0),
        "period": log_normal(math.log(0.3), 1.0),
    },
    "Linear()": {"outputscale": OUTPUTSCALE, "offset": stats.norm(0.5, 0.5)},
    "DeepSE(2)": {
        "outputscale": OUTPUTSCALE,
        "lengthscale": latent_lengthscale(3),
        "latent_scale": log_normal(math.log(0.5), 1.0),
    },
    "ConditionalDeep(exposed='spectral-mixture', mean='zero')": {
        "outputscale": OUTPUTSCALE,
        "lengthscale": latent_lengthscale(3),
        "latent_scale": log_normal(math.log(0.5), 1.0),
        "whitened": stats.norm(0.0, 1.0),
        "frequency": log_normal(math.log(0.5), 1.0),
        "weight": log_normal(0.0, 1.0),
        "bandwidth": log_normal(0.0, 1.0),
    },
    "ConditionalDeep(Matern(1.5), exposed='rational-quadratic', form='network')": {
        "outputscale": OUTPUTSCALE,
        "lengthscale": latent_lengthscale(3),
        "latent_scale": log_normal(math.log(0.5), 1.0),
        "mean_lengthscale": log_normal(-1.0 + 0.5 * math.log(3.0), 1.0),
        "alpha": log_normal(math.log(2.0), 1.0),
        "input_weight": stats.norm(0.0, 1.0),
        "input_bias": stats.norm(0.0, 1.0),
        "output_weight": stats.norm(0.0, 1.0),
        "output_bias": stats.norm(0.0, 1.0),
    },
    "Kumaraswamy(RBF())": {
        "outputscale": OUTPUTSCALE,
        "lengthscale": lengthscale(3),
        "concentration_a": CONCENTRATION,
        "concentration_b": CONCENTRATION,
    },
    "ChangePoint(RBF(), Matern(0.5), columns=[1])": {
        "outputscale": OUTPUTSCALE,
        "lengthscale": lengthscale(3),
        "location_score": stats.norm(0.0, 1.0),
        "width": log_normal(math.log(0.05), 1.0),
    },
    "Invariant(RBF(), swap(0, 1))": {
        "outputscale": OUTPUTSCALE,
        "lengthscale": lengthscale(3),
    },
}


@pytest.mark.parametrize(("text", "laws"), OF_KERNELS.items(), ids=OF_KERNELS)
def test_each_hyperparameter_has_its_prior_on_its_constrained_value(text, laws):
    kernel = parse(text).kernel(KernelSpace(3))
    seen = set()
    for name, module, prior, read, _ in kernel.named_priors():
        parameter = name.split(".")[-1].removesuffix("_prior")
        seen.add(parameter)
        agree(prior, laws[parameter])
        raw = getattr(module, f"raw_{parameter}").detach()
        free = laws[parameter].dist.name == "norm"
        expected = raw if free else raw.exp()
        torch.testing.assert_close(read(module).detach(), expected)
    assert seen == set(laws)


@pytest.mark.parametrize(
    ("prior", "text"),
    [
        (hyperpriors.excess_noise(), "LogNormal(-4, 1)"),
        (hyperpriors.offset(), "Normal(0.5, 0.5)"),
        (hyperpriors.lengthscale(1), "LogNormal(1.41, 1.73)"),
        (gpytorch.priors.GammaPrior(2.0, 3.0), "Gamma"),
    ],
)
def test_described_in_words(prior, text):
    assert hyperpriors.describe(prior) == text
