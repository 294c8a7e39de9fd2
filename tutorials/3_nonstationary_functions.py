# %% [markdown]
# # Functions that are not the same everywhere
#
# Two functions of one variable that oscillate on one side and are calm on the other.
# We see why one lengthscale cannot serve both sides, what two other priors do about
# it, when the evidence notices, and what that is worth to an optimiser. It takes about
# two minutes.

# %%
import os
from pathlib import Path

import pandas as pd
import torch
from matplotlib import pyplot as plt

import bokern
from bokern.problems import GramacyLee, Xiong
from bokern.reporting import posterior_slices, structure_probabilities

SMOKE = bool(os.environ.get("SMOKE_TEST"))  # a test run: small budgets, no figures
FIGURES = Path(globals().get("__file__", "here")).parent / "figures"

# %% [markdown]
# ## Two functions
#
# Gramacy and Lee's: a sine divided by x, and a steep rise. Xiong's: waves that become
# slower and slower. Both are known exactly, so we can measure errors.

# %%
problems = {"Gramacy-Lee": (GramacyLee(), 32), "Xiong": (Xiong(), 24)}


def points(problem, count):
    """Equally spaced points of the box, count x 1, and the values there."""
    ((low, high),) = problem.bounds
    X = torch.linspace(low, high, count, dtype=torch.float64).unsqueeze(-1)
    return X, problem.evaluate(X)


# %% [markdown]
# ## Three priors
#
# * `Matern(2.5)`: stationary. Its one lengthscale holds everywhere.
# * `Kumaraswamy(Matern(2.5))`: the input passes first through a monotone curve with two
#   parameters, which stretches one side of the box and squeezes the other. It suits
#   functions that grow calm, or wild, towards an edge.
# * `DeepSE()`: a deep Gaussian process in closed form: the input passes through a
#   random function, over which the kernel is averaged. What remains is stationary too:
#   it does not know *where* the function is wild. But its correlation falls fast at
#   first and then no further, so that short and long ranges are believed in at once.
#
# `compare` fits all three and ranks them. The values carry no noise, but the model is
# not told so, which is the usual case.

# %%
structures = ["Matern(2.5)", "Kumaraswamy(Matern(2.5))", "DeepSE()"]
found, errors = {}, []
for name, (problem, count) in problems.items():
    X, y = points(problem, count)
    bounds = {"x0": problem.bounds[0]}
    found[name] = bokern.compare(structures, X, y, bounds=bounds)
    print(f"{name}, {count} points\n{found[name]}\n")
    grid, truth = points(problem, 801)
    for structure in structures:
        with torch.no_grad():
            posterior = found[name].model(structure).posterior(grid)
        miss = posterior.mean.flatten() - truth
        sd = posterior.variance.sqrt().flatten()
        errors.append(
            {
                "function": name,
                "structure": structure,
                "rmse": float(miss.square().mean().sqrt()),
                "mean sd": float(sd.mean()),
                "within 2 sd": float((miss.abs() < 2 * sd).double().mean()),
            }
        )
print(pd.DataFrame(errors).round(3).to_string(index=False))

# %%
figure, axes = plt.subplots(
    2, 3, figsize=(10, 5), sharex="row", sharey="row", layout="constrained"
)
for row, (name, (problem, count)) in zip(axes, problems.items(), strict=True):
    X, y = points(problem, count)
    grid, truth = points(problem, 801)
    for axis, structure in zip(row, structures, strict=True):
        with torch.no_grad():
            posterior = found[name].model(structure).posterior(grid)
        mean, sd = posterior.mean.flatten(), posterior.variance.sqrt().flatten()
        x = grid.flatten()
        axis.fill_between(
            x, mean - 2 * sd, mean + 2 * sd, color="#2a7ab9", alpha=0.25, lw=0
        )
        axis.plot(x, mean, color="#2a7ab9", lw=1.5)
        axis.plot(x, truth, "k:", lw=1)
        axis.plot(X.flatten(), y, "k.", ms=4)
        gap = found[name].table.set_index("structure")["log_evidence"][structure]
        axis.set_title(f"{structure}, {gap:.1f} nats", fontsize=9)
    row[0].set_ylabel(name)
if not SMOKE:
    figure.savefig(FIGURES / "3_posteriors.png", dpi=100)

# %% [markdown]
# ![Posterior mean and two standard deviations of three priors (columns) for two
# functions (rows); dotted: the truth.](figures/3_posteriors.png)
#
# Xiong's function goes as expected. The Matérn kernel needs a short lengthscale for the
# waves on the left and keeps it on the right, where its bands swell between points
# although the function is calm. The warp has 25 nats more and bands a quarter as wide,
# in which 99 % of the function lie. Its mean is not the closer one, though: at the left
# edge, where the fitted curve is steepest, it jumps between the first two points, with
# a band that says so. `DeepSE()` takes the waves for noise.
#
# With Gramacy and Lee's function all three take the sine for noise. The errors are the
# same, .31 to .32, and the narrow bands of the warp make it worse, not better: less
# than half of the function is within them. The warp has a probability of .99 all the
# same, because it is calm before it rises, and because the others are no better.
# Probabilities are given the list.
#
# So we ask again, with two structures that have something for a short range beside
# something for a long one.

# %%
problem, count = problems["Gramacy-Lee"]
X, y = points(problem, count)
more = [*structures, "Matern(2.5) + RBF()", "RBF() + RBF() * Periodic()"]
wider = bokern.compare(
    more[::4] if SMOKE else more, X, y, bounds={"x0": problem.bounds[0]}
)
print(wider)
grid, truth = points(problem, 801)
with torch.no_grad():
    miss = wider.model().posterior(grid).mean.flatten() - truth
print(f"rmse of {wider.best}: {float(miss.square().mean().sqrt()):.3f}")

# %% [markdown]
# With a period the evidence gains 23 nats over the warp, and the error falls from .31
# to .07. The points were enough; the list was not. `bokern.search` tries periods by
# itself, so begin with it unless you know what belongs on a list.
#
# The package's own figure of one of them:

# %%
posterior_slices(found["Xiong"].model("Kumaraswamy(Matern(2.5))"))

# %% [markdown]
# ## How many points does it take?
#
# The evidence can only speak of what the points have seen. The same comparison with
# fewer and with more of them:

# %%
rows = []
for count in (8, 12) if SMOKE else (8, 12, 16, 24):
    for name, (problem, _) in problems.items():
        X, y = points(problem, count)
        bounds = {"x0": problem.bounds[0]}
        given = bokern.compare(structures, X, y, bounds=bounds)
        share = {s: round(given.probability(s), 3) for s in structures}
        rows.append({"function": name, "points": count, **share})
shares = pd.DataFrame(rows).sort_values(["function", "points"])
print(shares.to_string(index=False))

# %% [markdown]
# For Xiong's function 16 points settle it. Before that, .95 for the warp at 8 points
# was no promise: eight points cannot see the waves, and with twelve the warp and the
# Matérn kernel were level. For Gramacy and Lee's the warp gains steadily, for its calm
# before the rise, and no number of points warns that all three miss the sine. What
# warns is a look at the residuals, or a wider list.
#
# ## Optimisation
#
# With `structures="auto"`, the default, `minimize` searches for structures as the data
# grow, and draws one for each trial with its probability. Beside it the same optimiser
# with a Matérn kernel alone. Both begin with the same Sobol points. `optimum` is known
# here and only serves to print regrets.

# %%
budget = 9 if SMOKE else 20
runs = {}
for name, (problem, _) in problems.items():
    for offered in ("auto", "Matern(2.5)"):
        run = runs[name, offered] = bokern.minimize(
            problem,
            problem.space,
            budget,
            structures=offered,
            seed=0,
            optimum=problem.optimum,
        )
        print(f"{name:12} {offered:12} regret {run.regret:.2g}")
    if SMOKE:
        break

# %% [markdown]
# One seed each shows how to read a run, not which method is better. Here both find
# Xiong's minimum to within 1e-4, and both stay in the wrong trough of Gramacy and
# Lee's, at the same regret. The README reports 20 seeds of this function; no method
# tried there solves it in more than half of them.
#
# Which structures the optimiser believed in, trial by trial: a row wherever they had
# been compared anew.

# %%
tables = {}
for name in problems:
    if (name, "auto") not in runs:
        continue
    history = runs[name, "auto"].structure_history
    table = history.pivot_table(
        index="trial", columns="structure", values="probability", fill_value=0.0
    )
    order = table.sum().sort_values(ascending=False).index[:4]
    tables[name] = table[order]
    print(f"{name}\n{table[order].round(2).drop_duplicates().to_string()}\n")

# %%
figure, axes = plt.subplots(
    2, 2, figsize=(11, 5.6), sharex=True, width_ratios=[3, 2], layout="constrained"
)
for (left, right), (name, table) in zip(axes, tables.items(), strict=False):
    shown = table.assign(others=(1 - table.sum(axis=1)).clip(lower=0))
    if len(shown):
        colours = ["#2a7ab9", "#d98c00", "#12946b", "#b0558f", "0.8"]
        left.stackplot(
            shown.index,
            shown.to_numpy().T,
            labels=list(shown),
            colors=colours,
            step="post",
        )
        left.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    left.set(ylabel="probability", ylim=(0, 1), title=name)
    for offered, style in (("auto", "-"), ("Matern(2.5)", "--")):
        run = runs[name, offered]
        regret = run.trials["value"].cummin() - run.optimum
        right.step(regret.index, regret, style, where="post", label=offered)
    right.set(yscale="log", ylabel="regret", title=name)
    right.legend()
for axis in axes[1]:
    axis.set(xlabel="trial", xticks=range(0, budget + 1, 5))
if not SMOKE:
    figure.savefig(FIGURES / "3_optimization.png", dpi=90)

# %% [markdown]
# ![Left: probabilities of structures over trials. Right: regret of one run
# each.](figures/3_optimization.png)
#
# For Gramacy and Lee's function a period is in the three leading structures from trial
# 9 on. To know of it did not help this run, which was already in its trough. For
# Xiong's nothing is settled after 20 trials: points that an optimiser chose tell less
# of a structure than points that cover the box evenly.
#
# `structure_probabilities` draws the left ones for a notebook, and they stand in every
# report.

# %%
if len(tables["Gramacy-Lee"]):
    structure_probabilities(runs["Gramacy-Lee", "auto"])
