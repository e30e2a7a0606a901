#!/bin/sh
# A measured two-time map (an ageing sample, one angle, 350 frames; not part of the source, so the test needs the folder
# FIT_SHARED): J = D0 t^alpha + D_offset is not determined, but J and its slope along ln t at some time are, and the
# program must say so: no error for D0 and D_offset, of which the cost allows hundreds of times what the paraboloid
# tells, in any of its files, and for the rate what an independent fit has found.
#
#     measured.sh BINDIR
set -eu
bin=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
map=${FIT_SHARED:-$root/../shared}/data/real/chx_two_time_350.npy
if [ ! -f "$map" ]; then
    echo "skipped: no $map (FIT_SHARED names the folder with reference data)"
    exit 77
fi
if ! command -v python3 > /dev/null; then
    echo "skipped: no python3"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Frame units: the mean is offset + contrast exp(-q^2 int D dt), so that J = q^2 D = 2 D.
cat > "$work/c.yaml" <<YAML
units: trust
analysis_mode: static
experimental_data: {file_path: $map}
analyzer_parameters:
  dt: 1
  scattering: {wavevector_q: 1.4142135623730951}
parameter_space:
  bounds:
    - {name: D0, min: -1000, max: 1000}
    - {name: alpha, min: -2, max: 2}
    - {name: D_offset, min: -1000, max: 1000}
YAML

"$bin/homodyne-static_isotropic" fit "$work/c.yaml" -o "$work/out" --quiet
python3 - "$work/out/fit.json" "$work/out/summary.txt" <<'PY'
import json
import math
import sys

fit = json.load(open(sys.argv[1]))
assert fit["converged"], fit["message"]
for name in ("D0", "D_offset"):
    p = fit["parameters"][name]
    assert p["std"] is None and p["std_robust"] is None, (name, p)
    assert p["determined"] is False and p["std_curvature"] > 0, (name, p)
    assert p["interval_from"] == "profile", (name, p)
    low, high = p["interval_95"]
    # however far from 0: with alpha near 0 both grow together
    assert low is None or high is None or high - low > 1000 * p["std_curvature"], (name, p)
    assert p["std_reason"] == "not quadratic near the minimum: profile-likelihood interval given", (name, p)
# residuals of this measurement have a structure that neither independent noise nor speckles have
assert fit["quality"] == "doubtful" and "D0, D_offset" in fit["quality_text"], fit["quality_text"]
alpha = fit["parameters"]["alpha"]
assert alpha["determined"] and alpha["std"] == alpha["std_curvature"], alpha


summary = open(sys.argv[2]).read()
for name in ("D0", "D_offset"):
    row = next(l for l in summary.splitlines() if l.startswith(f"  {name} "))
    assert "+-" not in row and ("95 %" in row or "UNDETERMINED" in row), row
assert "best determined: D0 t^alpha + D_offset at t = " in summary


def close(what, value, reference, error):
    print(f"{what}: {value:.4g}, reference {reference:.4g} +- {error:.2g}")
    assert abs(value - reference) < error, what


# An independent fit ends where alpha is nearly 0: J = 0.209(19) - 0.031(3) ln t.  There is a lower minimum (by 3.7 in
# chi2); where J is known best both agree.
assert fit["cost"] < 157.4139
rate = fit["rates"][0]
assert rate["expression"] == "D0 t^alpha + D_offset" and rate["only_these_are_determined"]
close("J", 2 * rate["value"], 0.209 - 0.031 * math.log(rate["time"]), 2 * 2 * rate["std"])
close("dJ/dln t", 2 * rate["slope_by_ln_t"], -0.031, 2 * 2 * rate["slope_std"])
assert rate["slope_by_ln_t"] < -5 * rate["slope_std"]  # it ages
close("contrast", fit["scaling"][0]["contrast"], 0.059, 0.001)
close("offset", fit["scaling"][0]["offset"], 1.0275, 0.0002)
close("noise", fit["noise"]["sigma_common"], 0.072, 0.0005)
assert abs(fit["residuals"][0]["correlation_along_lag"]) < 0.02
assert abs(fit["residuals"][0]["correlation_along_age"]) < 0.02
PY
