#!/bin/sh
# A build for another architecture beside that of this machine, by programs of both: the compilers write the same bytes,
# fits end within 1e-9 standard deviations of each other, with every instruction set that the emulator can show.
# architectures.sh BINDIR NATIVE-BINDIR SOURCE [MODEL..]
set -eu
bin=$1 native=$2 source=$(cd "$3" && pwd)
shift 3
. "$(dirname "$0")/../support/test.sh"
[ -x "$native/homodyne-gen" ] || { echo "SKIPPED: no homodyne-gen of this machine in $native"; exit 77; }
command -v python3 >/dev/null 2>&1 || { echo "SKIPPED: no python3"; exit 77; }

# ---- programs, libraries and plugins are all of the other architecture
machine() { od -An -tx1 -j18 -N2 "$1"; } # that of an ELF file
want=$(machine "$bin/homodyne-gen")
[ "$want" != "$(machine "$native/homodyne-gen")" ] || fail "$native holds the same programs"
find "$bin" "$bin/../lib" -type f | while read -r file; do
    [ "$(head -c 4 "$file" | tail -c 3)" != ELF ] || [ "$(machine "$file")" = "$want" ] || echo "$file"
done >foreign
[ ! -s foreign ] || fail "for another processor: $(cat foreign)"

# ---- what the compilers write
for model in ${*:-cumulant diffusion_q kww static_isotropic double_exponential arma garch havriliak_negami laminar \
    robertson}; do
    emit="--check --emit=c,check,json,yaml,html,latex,dot"
    expect 0 "$bin/homodyne-gen" "$source/models/$model.lua" -o emitted $emit
    expect 0 "$native/homodyne-gen" "$source/models/$model.lua" -o emitted-native $emit
done
diff -rq emitted emitted-native || fail "the two compilers write different bytes"
[ "$(find emitted -type f | wc -l)" -ge 7 ] || fail "only $(ls emitted) was compared"

# ---- fits
s="$native/homodyne simulate"
expect 0 $s --model laminar -o laminar.h5 --frames 60 --dt 0.1 --q 0.0054 --gap 2000000 --phi=-30,20,80 \
    --noise 0.02 --seed 3 --set D0=6000 --set alpha=-0.3 --set D_offset=0 --set gamma_dot_t0=0.004 --set beta=-0.4 \
    --set phi0=-4
expect 0 $s --model heterodyne -o heterodyne.h5 --frames 60 --dt 0.1 --q 0.0054 --phi=-30,20,80 --noise 0.01 --seed 3 \
    --set v0=500
expect 0 $s --model static_isotropic -o static_isotropic.h5 --frames 60 --dt 0.1 --q 0.0054 --phi=0 --noise 0.02 \
    --seed 3 --set D0=6000 --set alpha=-0.3 --set D_offset=0
cp "$source/examples/kww/data.csv" kww.csv

fit() { # fit BINDIR MODEL FOLDER
    case $2 in
    laminar)
        expect 0 "$1/homodyne-laminar" fit --data laminar.h5 --gap 2000000 --sigma 0.02 --fix D_offset=0 -o "$3" --quiet
        ;;
    heterodyne)
        expect 0 "$1/homodyne-heterodyne" fit --data heterodyne.h5 --sigma 0.01 -o "$3" --quiet --fix D_offset_ref=0 \
            --fix D_offset_sample=0 --fix v_offset=0 --fix v_beta=0 --fix alpha_ref=0 --fix alpha_sample=0 --fix f1=0 \
            --fix f2=0 --fix f3=0
        ;;
    static_isotropic)
        expect 0 "$1/homodyne-static_isotropic" fit --data static_isotropic.h5 --sigma 0.02 --fix D_offset=0 -o "$3" \
            --quiet
        ;;
    kww) expect 0 "$1/homodyne-kww" fit --data kww.csv -o "$3" --quiet ;;
    esac
}

cat >compare.py <<'END'
import json, sys
a, b = (json.load(open(folder + "/fit.json")) for folder in sys.argv[1:3])
worst = max(abs(p["value"] - a["parameters"][name]["value"]) / p["std"]
            for name, p in b["parameters"].items() if p["std"])
print("%s, %s: largest difference %.1e standard deviations" % (sys.argv[2], a["isa"], worst))
sys.exit(a["status"] != b["status"] or not worst < 1e-9 or a["isa"].startswith("x86"))
END
models=
for model in laminar heterodyne static_isotropic kww; do
    [ -x "$bin/homodyne-$model" ] && [ -x "$native/homodyne-$model" ] || {
        echo "$model: not built, left out"
        continue
    }
    models="$models $model"
    fit "$native" $model "$model"
    for bytes in 16 32 64; do
        export QEMU_CPU=max,sve-default-vector-length=$bytes
        fit "$bin" $model now
        python3 compare.py now $model || fail "$model, vectors of $bytes bytes: another fit"
        case $bytes in 16) set=base ;; *) set=sve$((8 * bytes)) ;; esac
        # a build for fewer instruction sets uses the others
        grep -q "\"isa\": \"aarch64-\($set\|base\)\"" now/fit.json ||
            fail "$model, vectors of $bytes bytes: $(grep '"isa"' now/fit.json)"
    done
done
[ -n "$models" ] || fail "no fit was compared"
finish
