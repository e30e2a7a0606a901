"""any_model.py BINDIR FOLDER MODEL.. -- every command works with every model, or says why not.

MODEL is a program of the build (homodyne-NAME) or the file of a model.  From what `info` tells, an experiment is made:
values for every axis, every column and every setting, parameters a little beside the starts.  It is simulated,
inspected, validated, estimated, fitted, evaluated and reported; the fit finds what the data were made with.  Nothing of
a model is known here but what `info` says."""
import json
import os
import subprocess
import sys

BINDIR, FOLDER = sys.argv[1], sys.argv[2]
TOLERANCE = 5.0  # standard deviations: some hundred parameters, once each
bad = []


class Model:
    def __init__(self, name):
        self.file = name if name.endswith(".lua") else None
        self.label = os.path.basename(name).removesuffix(".lua")
        self.words = ["--model", self.file] if self.file else ["--model", self.label]
        out = self.run("info", "--json")
        self.info = json.loads(out.stdout) if out.returncode == 0 else None

    def run(self, command, *words, model=True):
        line = [os.path.join(BINDIR, "homodyne"), command, *(self.words if model else []), *words]
        return subprocess.run(line, capture_output=True, text=True, cwd=FOLDER, check=False)

    def expect(self, code, command, *words, says=None, model=True):
        out = self.run(command, *words, model=model)
        if out.returncode not in (code if isinstance(code, tuple) else (code,)):
            bad.append(f"{self.label}: {command} {' '.join(words)}: exit code {out.returncode}, not {code}: "
                       f"{out.stderr.strip()}")
        elif says and says not in out.stderr:
            bad.append(f"{self.label}: {command}: does not say '{says}' but: {out.stderr.strip()}")
        return out

    @property
    def pairs(self):
        return self.info["space"] == "pairs"


def beside(p):
    """A value of a parameter that is not its start, inside its bounds."""
    start, low, high = p["start"], p["lower"], p["upper"]
    narrow = low is not None and high is not None and high - low < 20
    value = 1.05 * start if start else 0.02 * (high - low) if narrow else 0.05
    inside = (low is None or value > low) and (high is None or value < high)
    return value if inside else 0.95 * start


def grid(model):
    """Options for axes, columns and settings, and the number of groups."""
    words, groups = [], 1
    info, values = model.info, VALUES.get(model.label, {})
    if model.pairs:
        words += ["--frames", "60", "--dt", "0.1"]
        known = {"q": ["--q", "0.004,0.006"], "phi": ["--phi=-40,5,60,90"], "gap": ["--gap", "2e6"]}
    else:
        known = {}
    for axis in info["axes"]:
        if axis["name"] in known:
            words += known.pop(axis["name"])
            groups *= 2 if axis["name"] == "q" else 4
        else:
            words += ["--set", f"{axis['name']}={values.get(axis['name'], '1,2,3')}"]
            groups *= 3
    for setting in info["settings"]:
        if setting["name"] == "dt":
            continue
        if setting["name"] in known:
            value = known.pop(setting["name"])
            words += ["--q", "0.0054"] if setting["name"] == "q" else value
        elif setting["default"] is None:
            words += ["--set", f"{setting['name']}=1"]
    rows = ROWS.get(model.label)
    first = not rows
    words += ["--data", rows] if rows else []
    for column in [] if rows else info["columns"]:
        if column["role"] != "covariate":
            continue
        low, high = column.get("range") or (0.1, 5)
        number = 40 if first else 3
        if model.label in WHOLE and not first:
            low, high, number = round(low), round(low) + 2, 3
        words += ["--set", f"{column['name']}={values.get(column['name'], f'{low}:{high}:{number}')}"]
        first = False
    if first and not model.pairs:
        words += ["--x", "1:30:30"]
    return words, groups


VALUES = {  # of columns and axes without a declared range: where the model means something
    "diffusion_q": {"q": "0.003,0.005,0.008", "delay": "1e-3:1:40:log"},
    "dls_cumulant": {"delay": "1e-6:1e-2:40:log"},
    "sphere": {"q": "1e-3:0.05:60"},
}
NIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "nist")
ROWS = {name[:-4].lower(): os.path.join(NIST, name) for name in os.listdir(NIST) if name.endswith(".csv")}
WHOLE = {"detectors", "detector_groups", "law_binomial", "law_logit"}  # columns that count something


def simulate(model):
    words, groups = grid(model)
    truth = {}
    for p in model.info["parameters"] + model.info["linear"]:
        truth[p["name"]] = beside(p)
        words += ["--set", f"{p['name']}={truth[p['name']]!r}"]
    file = model.label + (".h5" if model.pairs else ".csv")
    law = model.info.get("law")
    percent = "0.1%" if model.label in ROWS else "2%"  # sums of exponentials want good data
    exact = model.run("simulate", *words, "--noise", "0", "-o", "exact" + file, "--force")
    if model.pairs:
        words += ["--config-out", model.label + ".yaml"]
    noise = [] if law else ["--noise", "0.01" if model.pairs else percent]
    if model.label == "law_own":
        model.expect(3, "simulate", *words, "-o", file, says="no way to draw from it")
        noise = ["--noise", "0"]
    model.expect(0, "simulate", *words, *noise, "-o", file, "--seed", "7", "--force", "--quiet")
    if exact.returncode:
        bad.append(f"{model.label}: simulate --noise 0: {exact.stderr.strip()}")
    return file, truth, words


def look_at_fit(model, folder, truth):
    with open(os.path.join(FOLDER, folder, "fit.json"), encoding="utf-8") as f:
        fit = json.load(f)
    found = 0
    for name, p in fit["parameters"].items():
        if name not in truth or p.get("fixed") or not p.get("std"):
            continue
        found += 1
        if abs(p["value"] - truth[name]) > TOLERANCE * max(p["std"], p.get("std_robust") or 0):
            bad.append(f"{model.label}: {name} = {p['value']} +- {p['std']}, but the data were made with {truth[name]}")
    for group in fit.get("scaling", []):
        for axis in model.info["axes"]:
            if group.get(axis["name"]) is None:
                bad.append(f"{model.label}: a group without its {axis['name']}: {group}")
    return found


def one(name):
    model = Model(name)
    if model.info is None:
        bad.append(f"{name}: info fails")
        return 0
    if model.pairs and {a["name"] for a in model.info["axes"]} - {"q", "phi"}:
        words, _ = grid(model)
        model.expect(3, "simulate", *words, "-o", "no.h5", says="data files know the axes q and phi")
        model.expect(0, "eval", *words, "-o", model.label + "-eval.h5", "--quiet")
        return 0
    file, truth, words = simulate(model)
    out = model.label + "-fit"
    if model.pairs:
        config = [model.label + ".yaml"]
        model.expect(0, "inspect", file)
        model.expect(0, "estimate", *config, "--quiet")
        model.expect(0, "plan", *config, "--quiet")
    else:
        config = ["--data", file]
        model.expect(0, "inspect", file)
        model.expect(3, "estimate", *config, says="table")
        model.expect(3, "plan", *config, says="table")
    model.expect(0, "validate", *config, "--quiet")
    settings = [] if model.pairs else [w for s in model.info["settings"] if s["default"] is None
                                       for w in ("--set", f"{s['name']}=1")]
    fitted = model.expect((0, 2), "fit", *config, *settings, "-o", out, "--quiet")
    found = look_at_fit(model, out, truth) if fitted.returncode in (0, 2) else 0
    at = [w for w in words if w not in ("--config-out", model.label + ".yaml")]
    if model.info.get("feedback"):
        model.expect(3, "eval", *at, "-o", model.label + "-eval.h5", says="rows follow from what was measured")
    else:
        model.expect(0, "eval", *at, "-o", model.label + "-eval.h5", "--quiet", "--jacobian")
    if not model.pairs:
        model.expect(0, "eval", "--data", file, *[w for n in truth for w in ("--set", f"{n}={truth[n]!r}")], *settings,
                     "-o", model.label + "-rows.h5", "--quiet")
    model.expect(0, "report", out, model=False)
    return found


if __name__ == "__main__":
    count = sum(one(name) for name in sys.argv[3:])
    print(f"{len(sys.argv) - 3} models, {count} parameters found")
    for line in bad:
        print("FAILED:", line)
    sys.exit(bool(bad))
