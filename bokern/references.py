"""The papers behind the formulas, under the keys that docstrings use."""

from __future__ import annotations

from types import MappingProxyType

REFERENCES = MappingProxyType(
    {
        "Invariance": "van der Wilk, Bauer, John, Hensman: Learning Invariances "
        "using the Marginal Likelihood. NeurIPS 2018.",
        "ConvGP": "van der Wilk, Rasmussen, Hensman: Convolutional Gaussian "
        "Processes. NIPS 2017.",
        "SSWIM": "Tompkins, Oliveira, Ramos: Sparse Spectrum Warped Input Measures "
        "for Nonstationary Kernel Learning. NeurIPS 2020.",
        "CDGP": "Lu, Shafto: Conditional Deep Gaussian Processes: Empirical Bayes "
        "Hyperdata Learning. Entropy 2021.",
        "Moments": "Lu, Yang, Hao, Shafto: Interpretable Deep Gaussian Processes "
        "with Moments. AISTATS 2020.",
        "Primer": "Sanguinetti: Primer on Bayesian Inference and Gaussian Processes. "
        "Slides, 2018.",
        "GP-UCB": "Srinivas, Krause, Kakade, Seeger: Information-Theoretic Regret "
        "Bounds for Gaussian Process Optimization in the Bandit Setting. IEEE "
        "Transactions on Information Theory, 2012.",
        "GP-BUCB": "Desautels, Krause, Burdick: Parallelizing Exploration-"
        "Exploitation Tradeoffs in Gaussian Process Bandit Optimization. JMLR 2014.",
        "GPML": "Rasmussen, Williams: Gaussian Processes for Machine Learning. MIT "
        "Press, 2006.",
        "RandomFeatures": "Rahimi, Recht: Random Features for Large-Scale Kernel "
        "Machines. NIPS 2007.",
        "SSGP": "Lázaro-Gredilla, Quiñonero-Candela, Rasmussen, Figueiras-Vidal: "
        "Sparse Spectrum Gaussian Process Regression. JMLR 2010.",
        "Kumaraswamy": "Kumaraswamy: A generalized probability density function for "
        "double-bounded random processes. Journal of Hydrology, 1980.",
        "InputWarping": "Snoek, Swersky, Zemel, Adams: Input Warping for Bayesian "
        "Optimization of Non-Stationary Functions. ICML 2014.",
        "CKS": "Duvenaud, Lloyd, Grosse, Tenenbaum, Ghahramani: Structure Discovery in "
        "Nonparametric Regression through Compositional Kernel Search. ICML 2013.",
        "ABCD": "Lloyd, Duvenaud, Grosse, Tenenbaum, Ghahramani: Automatic "
        "Construction and Natural-Language Description of Nonparametric Regression "
        "Models. AAAI 2014.",
        "YeoJohnson": "Yeo, Johnson: A New Family of Power Transformations to Improve "
        "Normality or Symmetry. Biometrika, 2000.",
        "StateSpace": "Hartikainen, Särkkä: Kalman Filtering and Smoothing Solutions "
        "to Temporal Gaussian Process Regression Models. MLSP 2010.",
        "ParallelKalman": "Särkkä, García-Fernández: Temporal Parallelization of "
        "Bayesian Smoothers. IEEE Transactions on Automatic Control, 2021.",
        "Smoothing": "de Jong: Smoothing and Interpolation with the State-Space Model. "
        "Journal of the American Statistical Association, 1989.",
        "SMC": "Del Moral, Doucet, Jasra: Sequential Monte Carlo Samplers. Journal of "
        "the Royal Statistical Society B, 2006.",
        "WasteFree": "Dau, Chopin: Waste-free Sequential Monte Carlo. Journal of the "
        "Royal Statistical Society B, 2022.",
        "Laplace": "MacKay: Bayesian Interpolation. Neural Computation, 1992.",
    }
)
