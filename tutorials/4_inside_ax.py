# %% [markdown]
# # Inside Ax
#
# bokern as a generation strategy of your own Ax client: parameters, one of them a
# choice, an objective and an outcome that must stay below a limit; the experiment saved
# to JSON and opened again; and the record of the structures behind each trial. It takes
# one or two minutes. Ax's own documentation explains its `Client`.

# %%
import logging
import os
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from ax.api.client import Client
from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig
from ax.utils.common.logger import set_stderr_log_level
from matplotlib import pyplot as plt

import bokern.ax
from bokern.reporting import structure_probabilities

set_stderr_log_level(logging.WARNING)  # Ax tells of every trial
SMOKE = bool(os.environ.get("SMOKE_TEST"))  # a test run: small budgets, no figures
FIGURES = Path(globals().get("__file__", "here")).parent / "figures"
folder = Path(tempfile.mkdtemp())

# %% [markdown]
# ## The experiment
#
# A lens is coated in a vacuum chamber, with one of two materials. A thicker coat
# reflects less, up to the thickness at which the reflections cancel; a faster
# deposition saves time, but strains the coat. We want little reflection, and the stress
# must stay below 1.

# %%
INDEX = {"magnesium fluoride": 1.38, "silica": 1.46}


def measure(thickness, rate, material):
    """Reflection in per cent, and stress in units of what the coat can bear."""
    n, glass = INDEX[material], 1.52
    phase = 2 * np.pi * n * thickness / 550.0
    low, high = (n - 1) / (n + 1), (glass - n) / (glass + n)
    amplitude = low + high * np.exp(2j * phase)
    rough = 0.15 * np.exp(-rate) + 0.05 * rate**2
    reflection = 100 * abs(amplitude) ** 2 / abs(1 + low * high) ** 2 + rough
    strain = 0.7 * rate + thickness / 130.0
    return {"reflection": float(reflection), "stress": float(strain)}


# %% [markdown]
# ## The client
#
# All of this is Ax's. The one line that is bokern's sets the generation strategy.
# Import `bokern.ax` before that, and in every process that opens the experiment later:
# it registers its classes with Ax's storage. In Ax a minus sign in front of the
# objective means that it is minimised.

# %%
client = Client()
client.configure_experiment(
    name="coating",
    parameters=[
        RangeParameterConfig(
            name="thickness", parameter_type="float", bounds=(20.0, 200.0)
        ),
        RangeParameterConfig(name="rate", parameter_type="float", bounds=(0.1, 3.0)),
        ChoiceParameterConfig(
            name="material",
            values=list(INDEX),
            parameter_type="str",
            is_ordered=False,
        ),
    ],
)
client.configure_optimization("-reflection", outcome_constraints=["stress <= 1.0"])
client.set_generation_strategy(bokern.ax.generation_strategy(structures="auto", seed=0))

# %% [markdown]
# `structures="auto"` searches for structures, for each metric its own. A list such as
# `["Matern(2.5)", "DeepSE()"]` would have them compared and nothing derived from them.
# The loop is Ax's again.


# %%
def advance(client, trials):
    """Asks for so many trials, one after the other, and completes each."""
    for _ in range(trials):
        for index, parameters in client.get_next_trials(max_trials=1).items():
            client.complete_trial(index, raw_data=measure(**parameters))


advance(client, 7 if SMOKE else 14)

# %% [markdown]
# ## Saved and opened again
#
# The file holds the experiment, the strategy and the record of the structures. Opened
# again, here or in another process, it goes on with the structures it had; nothing is
# searched anew before the data have grown by a fifth. `bokern.ax.load` also opens an
# SQLite file or the URL of a database, with the name of the experiment.

# %%
path = folder / "coating.json"
client.save_to_json_file(str(path))
print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB")
del client
client = bokern.ax.load(path)
advance(client, 1 if SMOKE else 8)

# %% [markdown]
# ## What came out
#
# `summarize()` is Ax's table of trials. The best *observed* trial that keeps the
# constraint:

# %%
summary = client.summarize()
columns = ["trial_index", "thickness", "rate", "material", "reflection", "stress"]
print(summary[columns].round(3).tail(8).to_string(index=False))
kept = summary[summary["stress"] <= 1.0]
best = kept.loc[kept["reflection"].idxmin()]
print(f"\nbest: reflection {best['reflection']:.3f} % in trial {best['trial_index']}")
print(f"trials that broke the limit: {int((summary['stress'] > 1).sum())}")

# %% [markdown]
# And the truth, which only a simulation knows, from a fine grid:

# %%
grid = [
    (measure(t, r, m), t, r, m)
    for t in np.linspace(20, 200, 61 if SMOKE else 361)
    for r in np.linspace(0.1, 3.0, 30 if SMOKE else 291)
    for m in INDEX
]
feasible = [g for g in grid if g[0]["stress"] <= 1.0]
outcome, *where = min(feasible, key=lambda g: g[0]["reflection"])
print(f"truth: {outcome['reflection']:.3f} % at", *where)

# %%
figure, axis = plt.subplots(figsize=(7, 3.2), layout="constrained")
broken = summary["stress"] > 1.0
trials, values = summary["trial_index"], summary["reflection"]
axis.plot(trials[broken], values[broken], "x", color="#c4421a", label="stress above 1")
axis.plot(trials[~broken], values[~broken], "o", color="#2a7ab9", label="limit kept")
axis.step(
    trials, values.where(~broken).cummin().ffill(), color="0.5", where="post", lw=1
)
axis.axhline(outcome["reflection"], color="0.5", ls=":", lw=1)
axis.set(xlabel="trial", ylabel="reflection (%)")
axis.legend()
if not SMOKE:
    figure.savefig(FIGURES / "4_trials.png", dpi=100)

# %% [markdown]
# ![Reflection of each trial, crosses where the stress was too high; the line is the
# best that keeps the limit, dotted the truth.](figures/4_trials.png)
#
# ## The record
#
# `structure_history` tells, for each trial and metric, which structures were compared,
# their log evidences (nats, of the targets as Ax standardises them) and probabilities,
# and at how many observations the search began. It reads them from the stored trials,
# so it works on any experiment that bokern took part in.

# %%
history = bokern.ax.structure_history(client)
if len(history):
    last = history[history["trial"] == history["trial"].max()]
    shown = last.sort_values(["metric", "probability"], ascending=[True, False])
    columns = ["metric", "structure", "probability", "log_evidence", "searched_at"]
    top = shown.groupby("metric").head(4)[columns]
    with pd.option_context("display.max_colwidth", 70, "display.width", 140):
        print(top.round(2).to_string(index=False))

# %%
record = bokern.ax.newest_record(client._experiment)
print("used:", record.used)
for metric, chosen in record.chosen.items():
    print(f"{metric}: {chosen}")

# %% [markdown]
# `used` says that structures were fitted as planned; `"matern"` and `"sobol"` would be
# the fall-backs, with their reasons in `record.reasons`. `chosen` names the structure
# of each metric's model for the last trial. It was drawn with its probability, so it
# need not be the first of the table. No structure stands out for either metric: with
# about twenty points that is the usual case, and the reason for drawing one.
#
# All this is on the scale on which Ax hands the data over. The stress is a straight
# line in thickness and rate, and yet no `Linear()` leads: before a model sees an
# outcome with a limit, Ax takes log(1 + distance) from the limit, with its sign, so
# that what is far away counts less.
#
# The figure of the probabilities, for a notebook:

# %%
if len(history):
    structure_probabilities(history, metric="reflection")
