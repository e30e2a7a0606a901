#!/usr/bin/env python3
"""Efficient estimates beside least squares, of speckles that numpy simulates (twotime.py), cell by cell of a grid.

    efficient_independent.py BINDIR EXPERIMENTS [CELLS [KEEP [SECONDS [FIRST]]]]
        CELLS    words that a cell's name must contain, split by commas; all: every cell; cases[,WORD,..]: what the
                 theory leaves out or bounds (case_data), a table that is not judged; power[,WORD,..]: wrong models of
                 these, and how often tests say so; plan: errors that `plan` expects of the cells beside the scatter of
                 the estimates in KEEP, of which none are made
        KEEP     file of results, one line an experiment; a run goes on where another has ended, after SECONDS at most
        FIRST    number of the first experiment, 0; others are judged by themselves

A cell: model, total decay q^2 int D of the measurement, shot noise in units of the contrast, contrast, pixels; every
pixel is a speckle.  All experiments of a cell have the same truth.  `--estimator auto`; what it tells is judged, the
other estimates come from the same fit.  Times turn about: cells have their first 5 experiments before one has 6.

Printed, as a table: part of the experiments in which efficient estimates were taken; gain: sd of the efficient
estimates over that of least squares, both of all experiments that have both; part of the experiments that tell an
error; told over true sd, of these; the bias in sd and 95 % intervals that hold, of all; probability of Hausman's test
and of the test of fit below 1 %; medians of the number of speckles and of the shot noise over the truth, at the
contrast that was found (both go with it).  Of D0, gamma_dot_t0 and v0 sd and bias are those of their logarithm.
Several numbers are those of the parameters in turn; the bias is that of the one that is farthest off.

An error is withheld where the cost is no paraboloid; the interval is told alone then, and nothing but the interval can
be judged.  Errors that are told differ between experiments of a cell.  What they claim is that z = (estimate - truth) /
error has the sd 1: told over true is 1 / sd(z).  It is judged where half of the experiments tell one.

What is beyond its limit by more than 2.5 standard deviations of its own scatter is printed as a suspect; with so many
numbers some are by chance.  It is a defect when it is one again in new experiments (FIRST) that are judged alone.

Exit status 1: of parameters x cells fewer than nine in ten have 92 .. 97 % of intervals that hold, or one has not
88 .. 98, a bias of 0.2 sd or a told sd farther than 0.1 from the true one, or white noise costs 1 % of sd.  Each with
2.5 standard deviations for scatter.
"""
import json
import math
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

import twotime

bindir, number = os.path.abspath(sys.argv[1]), int(sys.argv[2])
words = [] if len(sys.argv) <= 3 or sys.argv[3] == "all" else sys.argv[3].split(",")
keep = os.path.abspath(sys.argv[4]) if len(sys.argv) > 4 else None
limit = time.time() + float(sys.argv[5]) if len(sys.argv) > 5 else math.inf
first = int(sys.argv[6]) if len(sys.argv) > 6 else 0
ANGLES = {"static": [0], "theory": [-40, 0, 40, 90], "laminar": [-40, 0, 40, 90], "heterodyne": [-4, 20, 75]}
PROGRAM = {"static": "static_isotropic", "theory": "laminar_theory", "laminar": "laminar", "heterodyne": "heterodyne"}
HETERODYNE = {"alpha_ref": 0, "D_offset_ref": 0, "alpha_sample": 0, "D_offset_sample": 0, "v_beta": 0, "v_offset": 0,
              "f0": 0, "f1": 0, "f2": 0, "phi0_het": 2}
POSITIVE = ("D0", "gamma_dot_t0", "v0")
TURN = 5
TELL = 0.5  # part of the experiments that must tell an error
WHITE = math.inf  # shot noise: values independent of one another
SIGMA = 0.02


def grid():
    """(model, total decay, shot noise / contrast, contrast, pixels)"""
    third = 1 / 3
    cells = [("static", d, s, third, 500) for d in (0.5, 1, 4, 13, 50, 300) for s in (0, 0.5, 1, 3, 10)]
    cells += [("static", d, s, b, 500) for d, s in ((4, 1), (1, 0.5)) for b in (1 / 30, 0.1, 0.5, 0.9)]
    cells += [("static", d, 1, third, m) for d, m in ((4, 50), (4, 5000), (4, 50000), (50, 50), (50, 5000), (1, 5000))]
    cells += [("laminar", d, s, third, 500) for d in (1, 4, 13, 50) for s in (0.5, 3)]
    cells += [("laminar", 4, 1, b, 500) for b in (0.1, 0.9)] + [("laminar", 13, 1, third, m) for m in (50, 5000)]
    cells += [("heterodyne", d, s, third, 500) for d in (4, 13, 50) for s in (0.5, 3)]
    cells += [("heterodyne", 13, 1, 0.1, 500), ("heterodyne", 13, 1, third, 5000)]
    cells += [("static", d, WHITE, third, 500) for d in (4, 50)] + [("laminar", 13, WHITE, third, 500)]
    return cells


CASES = {"one mode", "monitor", "scatterers 3", "scatterers 10", "detector", "averaged", "faster"}

# What the model lacks: part of the field that decays so many times faster; relative change of the contrast.
WRONG = {"wrong: nothing": (0, 1, 0),
         "wrong: 5 % of the field 20 times faster": (0.05, 20, 0),
         "wrong: 15 % of the field 8 times faster": (0.15, 8, 0),
         "wrong: contrast changes by 10 %": (0, 1, 0.1), "wrong: contrast changes by 20 %": (0, 1, 0.2),
         "wrong: contrast changes by 30 %": (0, 1, 0.3)}
WRONG_Q = {"wrong: q of one angle of three 5 % off": 1.05, "wrong: q of one angle of three 10 % off": 1.1,
           "wrong: q of no angle of three": 1}


def cases():
    """The same, with a word for what is different."""
    third = 1 / 3
    cells = [("theory", d, s, third, 500) for d in (4, 13) for s in (0.5, 3)]
    cells += [("static, one mode", d, 1, 1, 500) for d in (4, 13)]
    cells += [(f"static, {w}", 4, s, third, 500) for w in sorted(CASES - {"one mode", "faster"}) for s in (0.5, 3)]
    cells += [(f"static, {w}", d, 0.5, third, 5000) for w in sorted(WRONG | WRONG_Q) for d in (4, 13)]
    return cells + [("static, faster", 300, 0.5, third, 500)]


def name_of(cell):
    model, decay, shot, contrast, pixels = cell
    return f"{model} {decay:g} {shot:g} {contrast:.2g} {pixels}"


def kind_of(model):
    return model.split(",")[0]


def angles_of(model):
    return [0, 60, 120] if model.split(", ")[-1] in WRONG_Q else ANGLES[kind_of(model)]


def truth_of(model):
    if model == "heterodyne":
        return {"D0_ref": 6000, "D0_sample": 30000, "v0": 1, "f3": 0.3}
    p = {"D0": 6000, "alpha": -0.25}
    if model in ("laminar", "theory"):
        p.update(gamma_dot_t0=1e-4, beta=-0.1, phi0=2)
    return p


def complete(p):
    return {**HETERODYNE, **p} if "v0" in p else {"D_offset": 0, "gamma_dot_t_offset": 0, **p}


def frames_of(model, decay):
    if model.endswith("averaged"):
        return 120  # in pairs
    return 400 if model.endswith("faster") else 60 if decay <= 13 else 120 if decay <= 50 else 240


def shear_for(p, decay, frames, dt):
    """Flow that is seen as well as diffusion: sinc of 1.5 where that has come to e^-2."""
    return 1.5 * math.pi * max(decay, 3) / (twotime.Q * twotime.GAP) / (frames * dt) ** (1 + p["beta"])


def phase_for(decay, frames):
    """Of the components to each other, radian a frame: 2 while the sample decays, with no alias."""
    return min(2 * decay / frames, 1)


def design(cell):
    """Truth, period, fields: the period from the diffusion (of the sample), flow and velocity in proportion to it."""
    model, decay = cell[:2]
    frames, p = frames_of(model, decay), truth_of(model)
    low, high = math.log(1e-6), math.log(1e4)
    for _ in range(60):
        dt = math.exp((low + high) / 2)
        rate = (np.full(frames, p["D0_sample"]) if model == "heterodyne" else
                twotime.power_law(p["D0"], p["alpha"], 0, np.arange(frames) * dt, dt))
        total = twotime.Q ** 2 * twotime.integral(rate, dt)[-1]
        low, high = (math.log(dt), high) if total < decay else (low, math.log(dt))
    if model == "heterodyne":
        p["v0"] = phase_for(decay, frames) / (twotime.Q * dt)
    if model in ("laminar", "theory"):
        p["gamma_dot_t0"] = shear_for(p, decay, frames, dt)
    return p, dt, twotime.fields(kind_of(model), complete(p), frames, dt, ANGLES[kind_of(model)])


def modes_of(contrast):
    """Parts of the mean intensity, all alike but one, with that sum of squares."""
    k = math.ceil(1 / contrast - 1e-9)
    each = ((k - 1) + math.sqrt(max((k - 1) ** 2 - (k - 1) * k * (1 - contrast), 0))) / ((k - 1) * k) if k > 1 else 0
    return np.r_[np.full(k - 1, each), 1 - (k - 1) * each]


def scatterers(g, number, modes, pixels, rng):
    """Intensities, frames x pixels, of so many scatterers whose phases diffuse as g tells: not Gaussian."""
    steps = np.sqrt(np.r_[0, -2 * np.log(np.diag(g, 1))])
    intensity = np.zeros((len(g), pixels))
    for _ in range(modes):
        phase = rng.uniform(0, 2 * np.pi, (number, 1, pixels)) + np.cumsum(
            steps[:, None] * rng.normal(size=(number, len(g), pixels)), 1)
        intensity += abs(np.exp(1j * phase).sum(0)) ** 2 / number / modes
    return intensity


def gaussian(g, modes, pixels, rng):
    root = np.linalg.cholesky(g + 1e-10 * np.eye(len(g)))
    z = rng.normal(size=(modes, 2, len(g), pixels))
    return sum(abs(root @ (x[0] + 1j * x[1])) ** 2 for x in z) / 2 / modes


def case_data(case, g, shot, pixels, rng):
    """c2 of one region.  one mode: contrast 1; monitor: frames are divided by the mean of all; scatterers: a field is
                          the
    sum of so many; detector: noise that does not grow with the intensity; averaged: two exposures make a frame; faster:
    a decay within a few of many frames; wrong: what the model lacks."""
    part, times, drift = WRONG.get(case, (0, 1, 0))
    g = part * g ** times + (1 - part) * g
    modes = 1 if case == "one mode" else 3
    one = scatterers(g, int(case.split()[1]), modes, pixels, rng) if "scatterers" in case else gaussian(
        g, modes, pixels, rng)
    if case == "averaged":
        one = (one[::2] + one[1::2]) / 2
    coherent = np.sqrt(1 + drift * (np.arange(len(one)) / (len(one) - 1) - 0.5))[:, None]
    one = 1 + coherent * (one - 1) if drift else one
    s2 = shot / modes
    seen = (one + np.sqrt(s2) * rng.normal(size=one.shape) if case == "detector" else
            rng.poisson(np.maximum(one, 0) / s2) * s2)
    mean = np.full(len(seen), seen.mean()) if case == "monitor" else seen.mean(1)
    return (seen @ seen.T / pixels / np.outer(mean, mean))[None]


def data(cell, made, rng):
    shot, contrast, pixels = cell[2:]
    case = cell[0].split(", ")[-1]
    if case in WRONG_Q:
        return np.concatenate([case_data(case, made[0] ** f ** 2, shot, pixels, rng) for f in (1, 1, WRONG_Q[case])])
    if "," in cell[0]:
        return case_data(cell[0].split(", ")[1], made[0], shot, pixels, rng)
    if shot == WHITE:
        return twotime.white(twotime.means(made, contrast, 1), SIGMA, rng)
    return twotime.speckles(made, modes_of(contrast), pixels, 1 / (shot * contrast) if shot > 0 else 0, rng)


def options(model, p):
    """Starts are given for heterodyne alone, whose other minima are another subject."""
    fixed = {"D_offset": 0} if model == "static" else {"D_offset": 0, "gamma_dot_t_offset": 0}
    more = ["--gap", "200 um"] if model in ("laminar", "theory") else []
    if model == "heterodyne":
        fixed, more = HETERODYNE, ["--bounds", "f3=0:0.5"]
        more += [x for name, v in p.items() for x in ("--start", f"{name}={v!r}")]
    return more + [x for name, v in fixed.items() for x in ("--fix", f"{name}={v}")]


def experiment(cell, k):
    p, dt, made = designs[cell]
    kind = kind_of(cell[0])
    dt *= 2 if cell[0].endswith("averaged") else 1
    np.save("data.npy", data(cell, made, np.random.default_rng([1, k, *name_of(cell).encode()])))
    done = subprocess.run([f"{bindir}/homodyne-{PROGRAM[kind]}", "fit", "--data", "data.npy", "--dt", repr(dt),
                           "--q", str(twotime.Q), "--phi=" + ",".join(map(str, angles_of(cell[0]))), "-o", "out",
                           "--quiet", "--threads", "1", "--estimator", "auto", *options(kind, p)],
                          capture_output=True, text=True)
    if done.returncode not in (0, 2):
        sys.exit(f"{name_of(cell)}, experiment {k}: {done.stderr}")
    fit = json.load(open("out/fit.json"))
    e, row = fit["estimator"], {"cell": name_of(cell), "k": k, "quality": fit["quality"], "value": {}}
    other = e.get("least_squares") or e.get("efficient") or {}
    for name, t in p.items():
        v, o = fit["parameters"][name], other.get(name, {})
        parts = v.get("intervals_95") or (v["interval_95"] and [v["interval_95"]])
        row["value"][name] = [t, v["value"], v["std_robust"], parts, o.get("value"), o.get("std")]
    row.update(used=e["used"], reason=e.get("reason"), p=e.get("p"), fit=(fit.get("speckle") or {}).get("p"),
               groups=(e.get("groups") or {}).get("p"), white=fit["misfit"]["p"])
    row["noise"] = [[x.get(n) for n in ("count", "shot", "contrast")]
                    for x in (fit.get("speckle") or {}).get("groups", [])]
    return row


def order(cells, have):
    """Cells and numbers of the experiments to come: all of a turn, then the next."""
    for turn in range(first, first + number, TURN):
        for cell in cells:
            for k in range(turn, min(turn + TURN, first + number)):
                if (name_of(cell), k) not in have:
                    yield cell, k


def study(cells):
    rows = []
    if keep and os.path.exists(keep):
        rows = [json.loads(x) for x in open(keep)]
    have = {(r["cell"], r["k"]) for r in rows}
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for cell, k in order(cells, have):
            if time.time() > limit:
                break
            rows.append(experiment(cell, k))
            if keep:
                with open(keep, "a") as f:
                    f.write(json.dumps(rows[-1]) + "\n")
    return rows


def covered(t, parts):
    return any((a is None or a <= t) and (b is None or t <= b) for a, b in parts)


def number_or_nan(x):
    return math.nan if x is None else x


def values_of(row, name):
    """Value and error told, and those of the other estimates; of what is positive by nature the logarithm."""
    v = [number_or_nan(x) for x in (*row["value"][name][1:3], *row["value"][name][4:6])]
    return [math.log(v[0]), v[1] / v[0], math.log(v[2]), v[3] / v[2]] if name.startswith(POSITIVE) else v


def judge_parameter(rows, name):
    """What one parameter of one cell says."""
    all_ = np.array([values_of(r, name) for r in rows], float)
    t, told = rows[0]["value"][name][0], all_[:, :2]
    middle = math.log(t) if name.startswith(POSITIVE) else t
    both = np.array([r["used"] == "efficient" for r in rows]), ~np.isnan(all_[:, 2])
    efficient = np.where(both[0], all_[:, 0], all_[:, 2])[both[1]]
    squares = np.where(both[0], all_[:, 2], all_[:, 0])[both[1]]
    parts = [r["value"][name][3] for r in rows if r["value"][name][3]]
    sd, given = told[:, 0].std(ddof=1), ~np.isnan(told[:, 1])
    x = {"gain": efficient.std(ddof=1) / squares.std(ddof=1) if len(efficient) > 2 else math.nan,
         "cost": sd / np.where(both[0] & both[1], all_[:, 2], all_[:, 0]).std(ddof=1),
         "tell": given.mean(), "told": math.nan, "scatter": math.nan, "bias": math.nan,
         "hold": np.mean([covered(t, x) for x in parts]) if parts else math.nan, "given": len(parts)}
    if given.mean() >= TELL and given.sum() > 2:
        z = (told[given, 0] - middle) / told[given, 1]
        x.update(told=1 / z.std(ddof=1), scatter=scatter_of_sd(z), bias=(told[:, 0].mean() - middle) / sd)
    return x


def scatter_of_sd(z):
    """Relative, by leaving out one at a time: a few that are far off make it large."""
    logs = np.array([math.log(np.delete(z, k).std()) for k in range(len(z))])
    return math.sqrt((len(z) - 1) * logs.var())


def below(values, level):
    values = [v for v in values if v is not None]
    return f"{100 * np.mean([v < level for v in values]):.0f}" if values else "–"


def noise_of(rows, which, truth, contrast):
    """Over the truth; M goes with the square of the contrast that was found, s2 with it."""
    found = [g[which] / truth * (contrast / g[2]) ** (2 - which)
             for r in rows for g in r["noise"] if g[which] is not None and g[2] and 0 < truth < math.inf]
    return f"{np.median(found):.2f}" if found else "–"


def number_text(x, percent=False):
    return "–" if math.isnan(x) else f"{100 * x:.0f}" if percent else f"{x:.2f}"


def farthest(values, middle):
    values = [v for v in values if not math.isnan(v)]
    return max(values, key=lambda v: abs(v - middle)) if values else math.nan


def line(cell, rows, of):
    model, decay, shot, contrast, pixels = cell
    level = "white" if shot == WHITE else f"{shot:g}"

    def all_of(what, percent=False):
        return " ".join(number_text(x[what], percent) for x in of)
    return (f"| {model} | {decay:g} | {level} | {contrast:.2g} | {pixels} | {len(rows)} | "
            f"{100 * np.mean([r['used'] == 'efficient' for r in rows]):.0f} | {all_of('gain')} | "
            f"{all_of('tell', True)} | {all_of('told')} | {all_of('hold', True)} | "
            f"{number_text(farthest([o['bias'] for o in of], 0))} | {below([r['p'] for r in rows], 0.01)} | "
            f"{below([r['fit'] for r in rows], 0.01)} | {noise_of(rows, 0, pixels, contrast)} | "
            f"{noise_of(rows, 1, shot * contrast, contrast)} |")


def outside(value, low, high, scatter):
    return not low - 2.5 * scatter <= value <= high + 2.5 * scatter


class Verdict:
    def __init__(self):
        self.parts, self.middle, self.wide, self.wrong = 0, 0, 0, []
        self.inside, self.judged = {"bias": 0, "told": 0}, 0

    def take_intervals(self, name, x):
        if x["given"] <= 2:
            return
        spread = math.sqrt(0.05 * 0.95 / x["given"])
        self.parts += 1
        self.middle += not outside(x["hold"], 0.92, 0.97, spread)
        self.wide += 0.88 <= x["hold"] <= 0.98
        if outside(x["hold"], 0.88, 0.98, math.sqrt(0.1 * 0.9 / x["given"])):
            self.wrong.append(f"{name}: {100 * x['hold']:.0f} % of intervals hold")

    def take_errors(self, name, n, x):
        if math.isnan(x["told"]):
            return
        self.judged += 1
        self.inside["bias"] += abs(x["bias"]) < 0.2
        self.inside["told"] += 0.9 <= x["told"] <= 1.1
        if outside(x["bias"], -0.2, 0.2, 1 / math.sqrt(n)):
            self.wrong.append(f"{name}: bias {x['bias']:.2f} sd")
        if outside(x["told"], 0.9, 1.1, x["told"] * x["scatter"]):
            self.wrong.append(f"{name}: told sd {x['told']:.2f} of the true one, +- {x['told'] * x['scatter']:.2f}")

    def take(self, cell, parameter, n, x):
        name = f"{name_of(cell)}, {parameter}"
        self.take_intervals(name, x)
        self.take_errors(name, n, x)
        if cell[2] == WHITE and x["cost"] > 1.01:
            self.wrong.append(f"{name}: sd {x['cost']:.3f} of that of least squares")

    def tell(self):
        for text in self.wrong:
            print("suspect:", text)
        few = self.middle < 0.9 * self.parts
        print(f"{'WRONG: ' if few else ''}{self.middle} of {self.parts} parameters of cells have 92 .. 97 % of"
              f" intervals that hold, within their scatter; {self.wide} have 88 .. 98 %")
        print(f"of {self.judged} with a told error {self.inside['told']} have told over true sd 0.9 .. 1.1,"
              f" {self.inside['bias']} a bias below 0.2 sd")
        return bool(self.wrong) or few


def judge(cells, rows):
    verdict, shown = Verdict(), 0
    print("| model | decay | s2/b | b | M | experiments | efficient, % | sd over that of least squares |"
          " report an error, % | reported over true error | coverage of 95 % intervals, % | bias/sd | Hausman's p < "
          "0.01, % | fit's p < 0.01, % | M found | s2 found |")
    print("|" + "---|" * 16)
    for cell in cells:
        of_cell = [r for r in rows if r["cell"] == name_of(cell) and first <= r["k"] < first + number]
        if len(of_cell) < 3:
            continue
        of = {name: judge_parameter(of_cell, name) for name in of_cell[0]["value"]}
        print(line(cell, of_cell, list(of.values())))
        shown += 1
        for name, x in of.items() if cell in grid() else ():
            verdict.take(cell, name, len(of_cell), x)
    print(f"\n{shown} cells; parameters: " + "; ".join(f"{m}: {', '.join(truth_of(m))}" for m in ANGLES))
    return verdict.tell()


# ---- power ----------------------------------------------------------------------------------------------------------

def power_table(cells, rows):
    """Part of the experiments with p below 1 %: test of fit, of the angles, Hausman's, and of independent noise."""
    print("| what is true | decay | n | test of fit | angles agree | Hausman | independent noise | least squares stay "
          "|")
    print("|" + "---|" * 8)
    for cell in cells:
        of = [r for r in rows if r["cell"] == name_of(cell)]
        if of:
            tests = [below([r[k] for r in of], 0.01) for k in ("fit", "groups", "p", "white")]
            print(f"| {cell[0].split(': ')[1]} | {cell[1]:g} | {len(of)} | {' | '.join(tests)} | "
                  f"{100 * np.mean([r['used'] != 'efficient' for r in of]):.0f} |")


# ---- what `plan` expects --------------------------------------------------------------------------------------------

def planned(cell):
    """Parameters with std_speckle (least squares) and std_efficient; None: there are none."""
    model, decay, shot, contrast, pixels = cell
    p, dt, _ = designs[cell]
    start = [x for n, v in {**p, "contrast": contrast, "offset": 1}.items() for x in ("--start", f"{n}={v!r}")]
    rest = [x for x in options(model, {}) if "f3=" not in x and x != "--bounds"]
    done = subprocess.run([f"{bindir}/homodyne-{PROGRAM[model]}", "plan", "--frames", f"1:{frames_of(model, decay)}",
                           "--dt", repr(dt), "--q", str(twotime.Q), "--phi=" + ",".join(map(str, ANGLES[model])),
                           "--speckles", str(pixels), "--shot", repr(shot * contrast), "--json", *start, *rest],
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{name_of(cell)}: {done.stderr}")
    x = json.loads(done.stdout)["parameters"]
    return x if "std_efficient" in x[next(iter(p))] else None


def scatter_of(rows, name):
    """sd of the efficient estimates and of least squares, of all experiments that have both."""
    all_ = np.array([values_of(r, name) for r in rows], float)
    first_, both = np.array([r["used"] == "efficient" for r in rows]), ~np.isnan(all_[:, 2])
    pair = np.where(first_[:, None], all_[:, [0, 2]], all_[:, [2, 0]])[both]
    return pair.std(0, ddof=1) if len(pair) > 2 else [math.nan, math.nan]


def plan_table(cells):
    rows, ratios = [json.loads(x) for x in open(keep)], []
    print("| model | decay | s2/b | b | M | n | efficient: planned | true sd | least squares: planned | true sd |")
    print("|" + "---|" * 10)
    for cell in cells:
        of_cell = [r for r in rows if r["cell"] == name_of(cell)]
        x = planned(cell) if 0 < cell[2] < math.inf and len(of_cell) > 2 else None
        if not x:
            continue
        text = [[], [], [], []]
        for name, t in designs[cell][0].items():
            true, unit = scatter_of(of_cell, name), t if name.startswith(POSITIVE) else 1
            plan = [x[name][k] / unit if x[name][k] else math.nan for k in ("std_efficient", "std_speckle")]
            for k, v in enumerate((plan[0], true[0], plan[1], true[1])):
                text[k].append("–" if math.isnan(v) else f"{v:.2g}")
            ratios += [(plan[k], plan[k] / true[k], len(of_cell), k) for k in (0, 1) if true[k] > 0]
        model, decay, shot, contrast, pixels = cell
        print(f"| {model} | {decay:g} | {shot:g} | {contrast:.2g} | {pixels} | {len(of_cell)} | " +
              " | ".join(" ".join(t) for t in text) + " |", flush=True)
    for k, name in enumerate(("efficient", "least squares")):
        of = [(r, n) for p, r, n, which in ratios if which == k and not math.isnan(r) and p < 0.5]
        logs = np.log([r for r, _ in of])
        near = np.mean([abs(math.log(r)) < math.log(1.15) + 1.96 / math.sqrt(2 * n - 2) for r, n in of])
        print(f"{name}: planned over true sd {np.exp(logs.mean()):.3f} +- {logs.std() / math.sqrt(len(logs)):.3f} in "
              f"the mean of {len(of)} planned below 0.5; {100 * near:.0f} % within 15 % and their scatter")


chosen = [c for c in cases() if all(w in name_of(c) for w in words[1:])] if words[:1] in (["cases"],
    ["power"]) else [c for c in grid() if all(w in name_of(c) for w in words)]
if words == ["plan"]:
    chosen = grid()
designs = {c: design(c) for c in chosen}
if words == ["plan"]:
    sys.exit(plan_table(chosen))
if words[:1] == ["power"]:
    chosen = [c for c in chosen if "wrong" in c[0]]
    sys.exit(power_table(chosen, study(chosen)))
sys.exit(judge(chosen, study(chosen)))
