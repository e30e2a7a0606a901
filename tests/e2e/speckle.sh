#!/bin/sh
# What the programs make of efficient estimates: a fit, a plan and a posterior agree, and what cannot be is refused.
#
#     speckle.sh BINDIR
set -eu
bin=$1
if ! command -v python3 > /dev/null; then
    echo "skipped: no python3"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() {
    echo "speckle: $*"
    exit 1
}

"$bin/homodyne-static_isotropic" simulate -o s.h5 --config-out s.yaml --frames 120 --dt 0.1 --q 0.0054 --phi 0 \
    --contrast 0.3 --offset 1 --set D0=6000 --set alpha=-0.3 --set D_offset=0 --noise speckle --pixels 2000 --quiet
fit() {
    out=$1
    shift
    "$bin/homodyne-static_isotropic" fit s.yaml --fix D_offset=0 --quiet -o "$out" "$@"
}
fit plain
fit white --noise white
fit auto --estimator auto
fit told --estimator efficient --speckles 2000 --shot 0.001
fit laplace --estimator auto --method laplace
"$bin/homodyne-static_isotropic" plan s.yaml --fix D_offset=0 --frames 1:120 --dt 0.1 --speckles 2000 --shot 0.001 \
    --start D0=6000 --start alpha=-0.3 --start contrast=0.3 --start offset=1 --json > plan.json 2> /dev/null

python3 - <<'PY'
import json


def load(name):
    return json.load(open(name))


fits = {n: load(f"{n}/fit.json") for n in ("plain", "white", "auto", "told", "laplace")}
value = {n: {k: p["value"] for k, p in f["parameters"].items()} for n, f in fits.items()}
std = {n: {k: p["std_robust"] for k, p in f["parameters"].items()} for n, f in fits.items()}
assert "estimator" not in fits["plain"], "nobody asked for others than least squares"
assert fits["auto"]["estimator"]["used"] == "efficient", fits["auto"]["estimator"]
assert fits["auto"]["estimator"]["p"] > 1e-4, fits["auto"]["estimator"]
white = fits["white"]["parameters"]["D0"]
assert abs(white["std_robust"] / white["std"] - 1) < 1e-9 and value["white"] == value["plain"], white
for k, true in (("D0", 6000), ("alpha", -0.3)):
    other = fits["auto"]["estimator"]["least_squares"][k]
    assert other == {"value": value["plain"][k], "std": std["plain"][k]}, other
    assert std["auto"][k] < 0.5 * std["plain"][k], (k, std["auto"][k], std["plain"][k])
    assert abs(value["auto"][k] - true) < 5 * std["auto"][k], (k, value["auto"], std["auto"])
    # the number of speckles that is found is the one that is told
    assert abs(std["told"][k] / std["auto"][k] - 1) < 0.3, (k, std["told"][k], std["auto"][k])
    planned = load("plan.json")["parameters"][k]
    assert abs(planned["std_efficient"] / std["told"][k] - 1) < 0.2, (k, planned, std["told"][k])
    assert abs(planned["std_speckle"] / std["plain"][k] - 1) < 0.5, (k, planned, std["plain"][k])
    draws = fits["laplace"]["posterior"]["parameters"][k]
    told, prior = 1 / std["auto"][k] ** 2, 1 / draws["prior"]["b"] ** 2  # two normal laws make one
    mean = (told * value["auto"][k] + prior * draws["prior"]["a"]) / (told + prior)
    assert abs(draws["mean"] - mean) < 0.5 * std["auto"][k], (k, draws, mean)
    assert abs(draws["sd"] * (told + prior) ** 0.5 - 1) < 0.3, (k, draws)
assert fits["laplace"]["posterior"]["log_evidence"] is None, "equations of one model are not those of another"
told = fits["told"]["speckle"]["groups"][0]
assert (told["count"], round(told["shot"], 12), told["count_std"]) == (2000, 0.001, 0), told
PY

# An estimate that a bound cuts has an interval and no error; the others keep theirs.
fit cut --estimator auto --bounds alpha=-0.32:-0.29
# Profiles hold the noise, and say so.
"$bin/homodyne-static_isotropic" fit s.yaml --fix D_offset=0 --estimator auto --profile alpha -o profile > said
grep -q "profile likelihood, noise held as it is at the estimates" said || fail "profile: $(cat said)"
grep -q '"noise": "held as it is at the estimates"' profile/fit.json || fail "profile: nothing in fit.json"
# Frames that were divided by a monitor: errors of clusters of frames, no law of speckles, no number of them.
fit monitor --noise monitor
fit monitored --noise monitor --estimator auto
python3 - <<'PY'
import json

fits = {n: json.load(open(f"{n}/fit.json")) for n in ("plain", "cut", "monitor", "monitored")}
alpha, rate = (fits["cut"]["parameters"][k] for k in ("alpha", "D0"))
assert fits["cut"]["estimator"]["used"] == "efficient", fits["cut"]["estimator"]
assert alpha["std"] is None and alpha["std_reason"] == "a bound cuts the interval: no standard error", alpha
assert None in alpha["interval_95"] and rate["std"] > 0, (alpha, rate)
plain, d = fits["plain"]["parameters"]["D0"], fits["monitor"]["parameters"]["D0"]
assert d["value"] == plain["value"], (d, plain)
count = {n: fits[n]["speckle"]["groups"][0]["count"] for n in ("plain", "monitor")}
robust = fits["monitor"]["robust"]  # of a measurement of eight correlation times and more they are those of clusters
assert count["plain"] > 0 and count["monitor"] is None and d["std_robust"] is None, (count, d)
assert robust["reason"].endswith("divided by their own means"), robust
reason = fits["monitored"]["estimator"]["reason"]
assert fits["monitored"]["estimator"]["used"] == "least-squares" and "monitor" in reason, reason
PY

refused() { # WORD OPTION...
    word=$1
    shift
    status=0
    fit refused "$@" 2> said || status=$?
    [ $status = 3 ] || fail "$*: exit code $status"
    grep -q "$word" said || fail "$*: $(cat said)"
    [ ! -e refused/fit.json ] || fail "$*: a result"
}
refused "linear loss" --estimator efficient --loss soft_l1
refused "given" --estimator efficient --sigma 0.01
refused "monitor" --estimator efficient --noise monitor
refused "bootstrap" --estimator auto --bootstrap parametric:8
refused "consensus" --estimator efficient --method cmc --consensus

# Of two posteriors of efficient estimates nothing is ranked, by name; fits of least squares are.
"$bin/homodyne-static_isotropic" fit s.yaml --quiet -o offset --estimator auto --method laplace
"$bin/homodyne-static_isotropic" fit s.yaml --quiet -o offset_plain
"$bin/homodyne" compare laplace offset > compared
grep -q "efficient estimates do not minimise a sum of squares" compared || fail "criteria: $(cat compared)"
grep -q "evidence is not compared" compared || fail "evidence: $(cat compared)"
grep -q '"log_evidence_reason": "efficient estimates solve the equations of' laplace/fit.json ||
    fail "evidence: no reason"
"$bin/homodyne" compare plain offset_plain > compared
! grep -q "efficient estimates" compared || fail "least squares: $(cat compared)"

# Out of time, least squares stay, whatever was asked for.
for estimator in auto efficient; do
    status=0
    fit late --estimator "$estimator" --max-seconds 0.000001 2> said || status=$?
    [ $status = 2 ] || fail "time limit, $estimator: exit code $status"
    grep -q '"reason": "the time limit was reached"' late/fit.json || fail "time limit, $estimator: no reason"
    rm -r late
done

# Few decays.  simulated SEED DT OPTION...: 60 frames of 500 speckles.
simulated() {
    seed=$1 dt=$2
    shift 2
    "$bin/homodyne-static_isotropic" simulate -o few.h5 --config-out few.yaml --force --frames 60 --dt "$dt" \
        --q 0.0054 --phi 0 --contrast 0.3333333333 --offset 1 --set D0=6000 --set alpha=-0.25 --set D_offset=0 \
        --noise speckle --pixels 500 --seed "$seed" --quiet "$@"
}
few() {
    "$bin/homodyne-static_isotropic" fit few.yaml --fix D_offset=0 --quiet -o "$@"
}
simulated 1 0.119 --counts 0.3 # one decay, shot noise of ten contrasts: no error, an interval
few wide --estimator auto
simulated 14 0.0473            # half a decay: least squares are far from the truth, and so is the test of fit there
few far
few near --estimator auto
"$bin/homodyne-static_isotropic" simulate -o fast.h5 --config-out fast.yaml --frames 400 --dt 20 --q 0.0054 --phi 0 \
    --contrast 0.3 --offset 1 --set D0=1000 --set alpha=0 --set D_offset=0 --noise speckle --pixels 500 --quiet
"$bin/homodyne-static_isotropic" fit fast.yaml --fix D_offset=0 --quiet -o fast --estimator auto
python3 - <<'PY'
import json


def load(name):
    return json.load(open(f"{name}/fit.json"))


wide, far, near, fast = (load(n) for n in ("wide", "far", "near", "fast"))
d = wide["parameters"]["D0"]
assert wide["estimator"]["used"] == "efficient" and d["std"] is None and d["std_curvature"] > 0, d
low, high = d["interval_95"]  # far below the rate the noise is so large that nothing is ruled out
assert (low is None or low < 6000) and 6000 < high and d["std_reason"], d
assert far["speckle"]["p"] < 1e-4 < 0.01 < near["speckle"]["p"], (far["speckle"], near["speckle"])
# the noise by which pairs were weighed is that of the estimates, not of the first ones
weighed, found = near["speckle"]["groups"][0]["contrast"], near["scaling"][0]["contrast"]
assert abs(weighed / found - 1) < 0.03, (weighed, found)
alpha = near["parameters"]["alpha"]
assert near["estimator"]["used"] == "efficient", near["estimator"]
assert abs(alpha["value"] + 0.25) < 5 * alpha["std"] < 0.2, alpha
assert "decay within few of many frames" in fast["estimator"]["reason"], fast["estimator"]
PY

# What plan answers: splits of the dose are plans of their own, and so are the frames that an error wants.
planned() { # FRAMES DT OPTION...
    frames=$1 dt=$2
    shift 2
    "$bin/homodyne-static_isotropic" plan --frames "1:$frames" --dt "$dt" --q 0.0054 --phi 0 --fix D_offset=0 --json \
        --speckles 500 --start D0=6000 --start alpha=-0.25 --start contrast=0.3333 --start offset=1 "$@" 2> said
}
planned 60 0.29 --flux 10 --want D0=800,alpha=0.2 > dose.json
planned 60 0.29 --flux 10 --exposure 0.145 > short.json
planned 30 0.58 --shot 0.1724137931 > half.json
planned 60 0.58 --shot 0.3448275862 > closed.json
python3 - > more <<'PY'
import json


def load(name):
    return json.load(open(name))


dose, half, closed, short = (load(n) for n in ("dose.json", "half.json", "closed.json", "short.json"))
assert abs(dose["shot"] * 10 * 0.29 - 1) < 1e-12 and abs(short["shot"] / dose["shot"] - 2) < 1e-12
split = {s["name"]: s for s in dose["splits"]}
assert len(split) == 7, split
for name, one in (("frames / 2", half), ("closed 1/2", closed), ("as planned", dose)):
    assert split[name]["frames"] == one["frames"] and split[name]["dt"] == one["dt"], split[name]
    for k in ("D0", "alpha"):
        for std in ("std_speckle", "std_efficient"):
            other = one["parameters"][k][std]
            assert abs(split[name][std][k] / other - 1) < 1e-6, (name, k, std, split[name], other)
d, a = dose["wanted"]
assert d["frames"] > 60 > a["frames"] or a["frames"] is None, (d, a)
assert abs(d["speckles"] / (500 * (d["std_planned"] / 800) ** 2) - 1) < 0.01, d
print(int(d["frames"]))
PY
planned "$(cat more)" 0.29 --shot 0.3448275862 > long.json
python3 -c 'import json
e = json.load(open("long.json"))["parameters"]["D0"]["std_efficient"]
assert abs(e / 800 - 1) < 0.05, e'
wrong() { # WORD OPTION...
    word=$1
    shift
    ! planned 60 0.29 "$@" > /dev/null || fail "plan $*: no error"
    grep -q -e "$word" said || fail "plan $*: $(cat said)"
}
wrong "give one" --flux 10 --shot 0.3
wrong "above 0" --flux -1
wrong "without --flux" --shot 0.3 --exposure 0.1
wrong "no longer than" --flux 10 --exposure 0.5
wrong "no parameter" --flux 10 --want D1=3
wrong "is estimated" --flux 10 --want D_offset=3
wrong "NAME=ERROR" --flux 10 --want D0
wrong "noise of speckles" --want D0=3 --sigma 0.1
echo "speckle: fit, plan and posterior agree"
