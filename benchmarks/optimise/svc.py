"""Tuning a support-vector classifier in linear units: a plateau and a cliff."""

from __future__ import annotations

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from torch import Tensor

from bokern.problems import Problem


class BreastCancerSVC(Problem):
    r"""Error of a classifier with a Gaussian kernel on 569 tumours, five folds.

    The parameters are C and γ. In linear units nine tenths of the box give the error
    of no classifier at all, .37; good ones lie in γ < .02. The function is constant
    between jumps of about 1/569.
    """

    name = "svc"
    bounds = ((1e-3, 1e3), (1e-6, 10.0))
    optimum = 0.014066138798323302
    optimizers = ((6.493816315762113, 0.01),)

    def __init__(self) -> None:
        self._X, self._y = load_breast_cancer(return_X_y=True)
        self._folds = StratifiedKFold(5, shuffle=True, random_state=0)

    def _evaluate(self, X: Tensor) -> Tensor:
        return X.new_tensor([self._error(C, gamma) for C, gamma in X.tolist()])

    def _error(self, C: float, gamma: float) -> float:
        model = make_pipeline(StandardScaler(), SVC(C=C, gamma=gamma))
        scores = cross_val_score(model, self._X, self._y, cv=self._folds)
        return 1.0 - float(scores.mean())
