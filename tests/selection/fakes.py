"""Evidence and fits with made-up numbers."""

from bokern.evidence import Evidence
from bokern.fitting import FitResult


def evidence(value, **changes):
    fields = {
        "log_evidence": value,
        "inference": "exact",
        "integration": "laplace",
        "standard_error": 0.0,
        "lower": value,
        "upper": value,
        "n_hyperparameters": 1,
        "effective_hyperparameters": 1.0,
        "log_jacobian": 0.0,
        "data_fingerprint": "0" * 12,
        "likelihood": "gaussian",
        "restarts": 1,
        "restart_hits": 1,
        "hessian_min_eigenvalue": 1.0,
        "gradient_norm": 0.0,
        "seconds": 0.0,
        "seed": 0,
    }
    return Evidence(**fields | changes)


def fit_result(value):
    return FitResult(
        theta=(value,),
        objective=value,
        log_likelihood=value,
        gradient_norm=0.0,
        at_bound=(),
        restarts=1,
        restart_hits=1,
        evaluations=1,
        seconds=0.0,
        seed=0,
        objective_name="map",
    )
