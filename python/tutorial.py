"""A tour of homodyne_gen: run it as it stands, or cell by cell in an editor that knows `# %%`.

    python3 tutorial.py [FOLDER]        FOLDER: results of `homodyne fit`, for the last cells
"""
# %% The models
import pathlib
import sys
import tempfile

import numpy as np

import homodyne_gen as hg

print("models:", ", ".join(hg.models()))
m = hg.load_model("laminar")
print(m)

# %% Values: three azimuths, 120 frames.  What is not named has the model's start.
truth = {"D0": 6000, "alpha": -0.3, "D_offset": 300, "gamma_dot_t0": 0.004, "beta": -0.4, "gamma_dot_t_offset": 3e-4,
         "phi0": -4, "contrast": [0.3, 0.28, 0.25], "offset": 1.0}
setup = dict(dt=0.1, q=0.0054, gap=2e6, phi=[-45, 5, 90])  # s, 1/angstrom, angstrom, deg
c2 = m.mean(truth, frames=120, **setup)
print("c2:", c2.shape, "from", c2.min().round(4), "to", c2.max().round(4))

# %% Derivatives: the last axis is that of m.parameters + m.linear
jac = m.jacobian(truth, frames=120, **setup)
print("d c2 / d D0 at phi 5, frames 10 and 13:", jac[1, 10, 13, 0])

# %% A fit.  No start was given.
rng = np.random.default_rng(7)
noise = 0.01 * rng.standard_normal(c2.shape)
measured = c2 + np.triu(noise, 1) + np.transpose(np.triu(noise, 1), (0, 2, 1))
r = m.fit(measured, **setup)
print(r)
for name in ("gamma_dot_t0", "phi0"):
    off = (r.params[name] - truth[name]) / r.std[name]
    print(f"{name}: {off:+.1f} standard deviations from the truth")
    assert abs(off) < 5
assert r.converged

# %% Some parameters held, others in bounds
held = m.fit(measured, fix={"phi0": -4}, bounds={"alpha": (-1, 0)}, **setup)
print("phi0 held: alpha", round(held.params["alpha"], 3), "+-", round(held.std["alpha"], 3))

# %% Parameters that follow others, and parameters with a value for each azimuth
tied = m.fit(measured, ties={"gamma_dot_t_offset": "0.075*gamma_dot_t0"}, **setup)
print("tied:", tied.tied)
each = m.fit(measured, share={"D0": "per_angle"}, **setup)
print("D0 of each azimuth:", each.group_params["D0"].round(0))

# %% The posterior: all draws, with a verdict (more draws for real: draws=1000, chains=4)
sample = m.sample(measured, draws=300, chains=2, warmup=200, progress=False, **setup)
print(sample)
print("shear rate between", np.quantile(sample["gamma_dot_t0"], [0.025, 0.975]).round(5), "1/s with 95 %")

# %% What is left over, and how it compares with the noise
i, j = np.triu_indices(120, 1)
print("residuals:", r.residuals()[:, i, j].std(axis=1).round(5), "noise:", r.sigma.round(5))

# %% Draws of the normal approximation, for ArviZ (without it: a dict of groups)
idata = r.to_inferencedata(draws=500)
posterior = idata["posterior"]
print("alpha:", float(np.mean(posterior["alpha"])), "+-", float(np.std(posterior["alpha"])))

# %% A table: the columns by name
kww = hg.load_model("kww")
delay = np.logspace(-3, 1, 80)
g2 = kww.mean({"tau": 0.5, "beta": 0.7, "contrast": 0.2, "baseline": 1}, delay=delay)
print(kww.fit(g2 + 1e-3 * rng.standard_normal(80), sigma=np.full(80, 1e-3), delay=delay))

# %% A model of one's own: a file, compiled when it is first loaded (with a C compiler), kept until it changes
with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder) / "line.lua"
    file.write_text("""
local m = model "line" { title = "A straight line", formula = "y = a + b x", validity = "Everywhere." }
local x, y, s = m.columns("x:s", "y", "s")
local a = m.parameter("a", { start = 0, linear = true })
local b = m.parameter("b", { unit = "1/s", start = 1, bounds = {-100, 100} })
m.observe(y, { mean = a + b * x, sigma = s })
m.test { x = 2, a = 1, b = 3, y = 7 }
""")
    try:
        line = hg.load_model(file)
        x = np.linspace(0, 1, 20)
        print(line.fit(1 + 3 * x + 0.01 * rng.standard_normal(20), sigma=0.01, x=x))
    except hg.UsageError as error:  # no C compiler here
        print("UsageError:", error)

# %% Mistakes are told
try:
    m.mean({"D_0": 1}, frames=10, **setup)
except hg.UsageError as error:
    print("UsageError:", error)

# %% Results of the program
if len(sys.argv) > 1:
    results = hg.load_results(sys.argv[1])
    print(results)
    print("posterior:", ", ".join(map(str, results.to_inferencedata()["posterior"])))
