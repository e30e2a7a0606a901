#!/bin/sh
# objective.sh BINDIR -- the program of an objective of one's own, that of docs/imaging.md: a signal behind a blur is
# found again; units; starts; the same bits for any threads; what `make model=` makes of a file; messages.
. "$(dirname "$0")/../support/test.sh"
bin=$(cd "$here" && cd "$1" && pwd)
source=$(cd "$here/../.." && pwd)
deblur=$bin/homodyne-deblur
python3 -c "import h5py, numpy" 2>/dev/null || { echo "skipped: no h5py"; exit 77; }

python3 - <<'PY'
import h5py, numpy as np
t = np.arange(60.0)
signal = 0.2 + 5 * np.exp(-0.5 * ((t - 20) / 4) ** 2) + 3 * np.exp(-0.5 * ((t - 40) / 6) ** 2)
K = np.exp(-0.5 * ((t[:, None] - t) / 3) ** 2)
K /= K.sum(axis=1, keepdims=True)
y = K @ signal + 0.05 * np.random.default_rng(1).normal(size=60)
for name, factor, unit in (("s", 1, None), ("min", 60, "count/min")):
    with h5py.File(name + ".h5", "w") as f:
        g = f.create_group("run")
        g["y"], g["sigma"], g["K"], g["truth"] = factor * y, np.full(60, 0.05), K, signal
        g["next"] = np.minimum(np.arange(2, 62), 60)
        if unit:
            g["y"].attrs["units"] = unit
with h5py.File("negative.h5", "w") as f:
    g = f.create_group("run")
    g["y"], g["sigma"], g["K"], g["next"] = y, np.full(60, 0.05), K, np.minimum(np.arange(2, 62), 60)
    g.attrs["gain"] = -1.0
with h5py.File("bad.h5", "w") as f:
    f["y"], f["sigma"], f["K"], f["next"] = y, np.full(60, 0.05), K[:59], np.arange(60)
with h5py.File("none.h5", "w") as f:
    f["y"], f["sigma"] = y, np.full(60, 0.05)
with h5py.File("few.h5", "w") as f:
    f["y"], f["sigma"], f["K"] = y, np.full(60, 0.05), K
with h5py.File("kelvin.h5", "w") as f:
    f["y"], f["sigma"], f["K"] = y, np.full(60, 0.05), K
    f["y"].attrs["units"] = "K"
PY
fit="--weight counts=1,smooth=0.1"
expect 0 "$deblur" fit s.h5:/run $fit -o s_out.h5
has out "ftol: "
has out "written: s_out.h5"
grep '^  J ' out >J
expect 0 "$deblur" fit min.h5:/run $fit -o min_out.h5
says "/run/y is in count/min and was converted to count/s"
expect 0 "$deblur" eval s.h5:/run --from s_out.h5 $fit -o again.h5
grep '^  J ' out | cmp -s - J || fail "eval --from the result: $(cat out J)"
expect 0 "$deblur" eval s.h5:/run --from s_out.h5 $fit --set gain=60count/min
grep '^  J ' out | cmp -s - J || fail "a gain in other units: $(cat out J)"
expect 0 "$deblur" fit s.h5:/run $fit --optimizer nlsq -o nlsq.h5
for threads in 1 2 3; do
    expect 2 "$deblur" fit s.h5:/run $fit --threads $threads --maxiter 7 --start x=0.1 -o t$threads.h5 --quiet
    cmp -s t1.h5 t$threads.h5 || fail "$threads threads give another file"
done
python3 - <<'PY' || failed=1
import h5py, numpy as np
out, minutes, least, again = (h5py.File(f + ".h5") for f in ("s_out", "min_out", "nlsq", "again"))
truth = h5py.File("s.h5")["run/truth"][:]
assert np.corrcoef(out["kept/signal"][:], truth)[0, 1] > 0.99
assert abs(out["x"][:] - minutes["x"][:]).max() < 1e-6
assert abs(out["kept/signal"][:] - least["kept/signal"][:]).max() < 0.01
assert abs(out["gradient/x"][:] - again["gradient/x"][:]).max() == 0
assert out["hyper/gain"].attrs["units"] == "count/s"
PY
expect 0 "$deblur" info s.h5:/run
has out "y              data  over row        count/s  measured"
has out "bin            60 elements"
[ "$(awk '/^data$/ { on = 1; next } !NF { on = 0 } on { printf "%s ", $1 }' out)" = "x y sigma K next " ] ||
    fail "what info lists as data: $(cat out)"
expect 0 "$deblur" eval s.h5:/run $fit
awk 'NF == 4 && $1 != "term" { sum += $4 } $1 == "J" { d = sum - $2; exit !(d <= 1e-6 * $2 && -d <= 1e-6 * $2) }' out ||
    fail "parts of J: $(cat out)"

wrong() {
    code=$1 text=$2
    shift 2
    expect "$code" "$deblur" "$@"
    says "$text"
}
wrong 3 "no term 'smoth'; did you mean 'smooth'?" fit s.h5:/run --weight smoth=1
wrong 3 "--weight: -1 is below 0" fit s.h5:/run --weight smooth=-1
wrong 3 "'3m' is another kind of unit; declared is count/s" eval s.h5:/run --set gain=3m
wrong 3 "no hyper-parameter 'gian'; did you mean 'gain'?" eval s.h5:/run --set gian=3
wrong 3 "no free array 'y'" eval s.h5:/run --start y=3
wrong 3 "no command 'fot'; did you mean 'fit'?" fot s.h5:/run
wrong 3 "optimizer" fit s.h5:/run --optimizer lbfgz
wrong 4 "the unit 'K' is another kind of unit; 'count/s' is declared" fit kelvin.h5
wrong 4 "the matrix 'K' is 59 x 60, not 60 x 60" fit bad.h5
wrong 3 "the term 'smooth' cannot be used: the data have no 'next'" fit few.h5 --weight smooth=1
wrong 3 "gain: 0 is not above 0 count/s" eval s.h5:/run --set gain=0
wrong 3 "gain: -1 is not above 0 count/s" fit negative.h5:/run $fit
wrong 4 "nothing gives the size of the axis 'bin' of 'x'" fit none.h5

# what the build makes of a file: configured only
if command -v cmake >/dev/null; then
    cat >counting.lua <<'E'
local m = objective "counting" { title = "One term" }
local bin = m.axis("bin")
local x = m.free("x", bin)
m.term("size", { kind = "data", value = m.sum(x ^ 2), weight = 1 })
E
    expect 0 cmake -S "$source" -B made -DFIT_ADD_MODEL="$dir/counting.lua" -DFIT_TESTS=OFF
    grep -rqs "homodyne-counting" made/Makefile made/build.ninja || fail "there is no program of counting.lua"
fi
finish
