# %% [markdown]
# # A first optimisation
#
# Minimise a black box in one call, and read what comes back. Then do the same by hand:
# a study on disk that is asked for experiments and told their outcomes, closed and
# opened again, with an experiment that fails on the way. It takes a minute or two.

# %%
import os
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

import bokern
from bokern.reporting import optimization_history, structure_probabilities

SMOKE = bool(os.environ.get("SMOKE_TEST"))  # a test run: small budgets, no figures
FIGURES = Path(globals().get("__file__", "here")).parent / "figures"
folder = Path(tempfile.mkdtemp())  # for the study and the report

# %% [markdown]
# ## The experiment
#
# A reactor turns A into the product B, and B, if left too long, into tar:
# A → B → C, both of first order. The rates follow Arrhenius; a catalyst lowers the two
# barriers, each in its own way. We choose the temperature (kelvin), the time (minutes)
# and the catalyst. What counts is the yield of B, less 0.05 per cent for every minute
# that the reactor is occupied.

# %%
BARRIERS = {"nickel": (71.0, 86.0), "palladium": (66.0, 77.0), "copper": (76.0, 88.0)}


def net_yield(temperature, minutes, catalyst):
    """Per cent of A that ends up as B, less the price of the time."""
    first, second = (
        1e10 * np.exp(-1e3 * barrier / (8.314 * temperature))
        for barrier in BARRIERS[catalyst]
    )
    left = np.exp(-first * minutes) - np.exp(-second * minutes)
    return 100 * left * first / (second - first) - 0.05 * minutes


def loss(temperature, minutes, catalyst):
    """What is missing from a net yield of 100 per cent."""
    return 100 - net_yield(temperature, minutes, catalyst)


# %% [markdown]
# ## In one call
#
# The space says what each parameter is: a pair is a range, `"log"` puts it on a log
# scale, and `choice` is for values without an order. The function is called with the
# parameters by name. The first trials are Sobol points; after them a Gaussian process
# is fitted, whose prior is chosen by its evidence as the data grow.

# %%
space = {
    "temperature": (310.0, 400.0),
    "minutes": (1.0, 600.0, "log"),
    "catalyst": bokern.choice("nickel", "palladium", "copper"),
}
result = bokern.minimize(loss, space, budget=8 if SMOKE else 30, seed=1)
print(result)

# %% [markdown]
# `best_parameters` and `best_value` are what one usually wants. `trials` is a DataFrame
# with a row a trial: what was tried, what came out, and which prior proposed it.

# %%
print(result.best_parameters, round(result.best_value, 3))
shown = ["trial", "temperature", "minutes", "catalyst", "value", "generator"]
print(result.trials[shown].tail(8).to_string(index=False))

# %% [markdown]
# The experiment is simulated, so we may look up the truth on a fine grid, which a
# chemist cannot. The time that is best depends on the temperature; along the valley of
# good pairs the loss hardly changes.

# %%
temperatures, times = np.linspace(310, 400, 361), np.geomspace(1, 600, 401)
T, M = np.meshgrid(temperatures, times)
truth = {catalyst: loss(T, M, catalyst) for catalyst in BARRIERS}
for name, values in truth.items():
    at = np.unravel_index(values.argmin(), values.shape)
    print(f"{name:10} {values[at]:.3f} % lost, at {T[at]:.1f} K and {M[at]:.1f} min")

# %%
done = result.trials
best_so_far = done["value"].cummin()
figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.4), layout="constrained")
model = ~done["generator"].isin(["sobol", "initial"])
left.step(done["trial"], best_so_far, where="post", color="0.5", label="best so far")
left.plot(done["trial"][~model], done["value"][~model], "s", color="#d98c00")
left.plot(done["trial"][model], done["value"][model], "o", color="#2a7ab9")
left.lines[1].set_label("Sobol")
left.lines[2].set_label("from a model")
left.set(xlabel="trial", ylabel="loss (%)")
left.legend()
catalyst = result.best_parameters["catalyst"]
levels = [5, 6, 8, 12, 20, 40, 60, 80]
lines = right.contour(T, M, truth[catalyst], levels, cmap="viridis")
right.clabel(lines, fmt="%g %%", fontsize=8)
for marker, some in (("s", ~model), ("o", model)):
    mine = done[some & (done["catalyst"] == catalyst)]
    colour = "#d98c00" if marker == "s" else "#2a7ab9"
    right.plot(mine["temperature"], mine["minutes"], marker, color=colour)
right.set(yscale="log", xlabel="temperature (K)", ylabel="minutes", title=catalyst)
if not SMOKE:
    figure.savefig(FIGURES / "1_yield.png", dpi=100)

# %% [markdown]
# ![Left: the loss at each trial. Right: the trials with the best catalyst on the
# contours of the truth.](figures/1_yield.png)
#
# The loss that was found, 3.86, is within .06 of the least, 3.80; the last trials lie
# along the valley. A notebook shows the package's own, interactive figures; the report
# at the end holds them too.

# %%
optimization_history(result)

# %% [markdown]
# ## A study on disk
#
# Real experiments take days, and the program that proposes them should not have to run
# all that time. A `Study` keeps everything in one file. `ask` proposes a trial, `tell`
# stores its outcome; what was told is on disk before `tell` returns. Here the net
# yield is to be maximised, and it is measured with a standard error of half a per cent.

# %%
path = folder / "yield.db"
study = bokern.Study(path, space, direction="maximize", seed=1)
assay = np.random.default_rng(0)


def measured_yield(parameters):
    """What the laboratory reports, with noise."""
    return net_yield(**parameters) + 0.5 * assay.standard_normal()


for _ in range(4):
    trial = study.ask()
    study.tell(trial, measured_yield(trial.parameters), sem=0.5)
print(study.best.id, study.best.parameters, round(study.best.value, 1))

# %% [markdown]
# An experiment can fail: the stirrer stops, the sample is spilled. Say so. The trial is
# kept with its reason and counts as no value; places like it are avoided from then on.

# %%
trial = study.ask()
study.fail(trial, "the stirrer stopped")
waiting = study.ask()  # handed to the laboratory; its result will come tomorrow
print(study)

# %% [markdown]
# Here the program ends. The next day it opens the file again, without naming the space:
# the study knows it. The trial that was asked for is still pending.

# %%
del study
study = bokern.Study(path)
(waiting,) = study.pending
print(f"trial {waiting.id} is pending:", waiting.parameters)
study.tell(waiting, measured_yield(waiting.parameters), sem=0.5)
columns = ["trial", "temperature", "minutes", "catalyst", "value", "status", "reason"]
print(study.trials[columns].to_string(index=False))

# %% [markdown]
# Several experiments at a time: `ask(2)` gives two trials, the second chosen with the
# first in mind. `tell` takes them in any order.

# %%
for _ in range(1 if SMOKE else 10):
    for trial in reversed(study.ask(2)):
        study.tell(trial, measured_yield(trial.parameters), sem=0.5)

best = study.best
print(f"best measured: {best.value:.1f} % at {dict(best.parameters)}")
print(f"without noise that is {net_yield(**best.parameters):.2f} %")

# %% [markdown]
# The best *measured* value is no estimate of the yield: the largest of many noisy
# values is more often a lucky one than, as here, an unlucky one. Take it as the place
# to repeat, not as the yield to promise.
#
# Which priors were compared last, and what the evidence says of each:

# %%
with pd.option_context("display.width", 120, "display.max_colwidth", 60):
    print(study.leaderboard.round(3).head(5).to_string(index=False))

# %% [markdown]
# The log evidence is in nats: one nat more means that the data are e times as probable
# under that prior. Where the gaps are below 5 nats, no structure is established, and
# bokern draws one for each trial with its probability, or averages.
#
# ## The report
#
# One self-contained HTML page, of the minimisation and the study, with the tables, the
# figures and where the numbers come from. It needs no network.

# %%
page = bokern.report(result, study.result(), path=folder / "report.html")
print(f"{page.name}: {page.stat().st_size / 1e6:.1f} MB")
print("the log is sound" if not study.check() else study.check())

# %%
if not study.leaderboard.empty:
    structure_probabilities(study.result())
