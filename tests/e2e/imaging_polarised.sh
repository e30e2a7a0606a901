#!/bin/sh
# imaging_polarised.sh BINDIR -- homodyne-imaging with several arrays: simulated polarised sources and spectra are found
# again, images go out and come back, the same bits for any threads, surveys, messages.
. "$(dirname "$0")/../support/test.sh"
bin=$(cd "$here" && cd "$1" && pwd)
source=$(cd "$here/../.." && pwd)/tests/data/imaging
imaging=$bin/homodyne-imaging
pol=$source/polarised.h5
set="--prior $pol:/start --flux 1 --eps-tv 1e-8 --set vflux=0.05"
P="--term vis=1,pvis=1,vvis=1 --regularizer simple=0.1,tv=1,ptv=1,vtv=1 $set"
found() { # PATTERN LEAST
    awk -v p="$1" -v a="$2" 'index($0, p) == 1 { n++; if (!($NF >= a)) exit 1 } END { exit !n }' out ||
        fail "$1 is not above $2: $(cat out)"
}
J() {
    awk '$1 == "J" { print $2 }' out
}

# I, Q, U and V of a polarised ring, from a Gaussian without any
expect "0|2" "$imaging" fit "$pol" $P --maxiter 300 --npix 16 --fov 160 --no-norm-init --truth "$pol:/truth" -o p.h5 \
    --fits p.fits
found "correlation with" 0.99
found "correlation of Q" 0.97
found "correlation of U" 0.98
found "correlation of V" 0.92
[ "$(J)" ] || fail "no J"
wanted=$(J)

# images go out and come back, in both formats: their J is the same but for rounding
for image in p.h5 p.fits; do
    expect 0 "$imaging" eval "$pol" --image $image $P -o e.h5
    awk -v a="$wanted" -v b="$(J)" 'BEGIN { exit !((a - b) ^ 2 < (1e-8 * a) ^ 2) }' ||
        fail "$image: J $(J), not $wanted"
done

# fractional polarisation and closures of I
expect "0|2" "$imaging" fit "$pol" --image "$pol:/start" --term vis=1,m=1 --regularizer tv=1,hw=0.01,ptv=1 \
    $set --maxiter 300 --truth "$pol:/truth"
found "correlation of Q" 0.9

# one at a time: what is not solved for stays
expect "0|2" "$imaging" fit "$pol" --image "$pol:/truth" --term pvis=1 --regularizer ptv=1 --solve P $set \
    --no-norm-init --truth "$pol:/truth" -o only.h5
found "correlation with" 0.999999
found "correlation of U" 0.9
expect "0|2" "$imaging" fit "$pol" --image "$pol:/truth" --term vvis=1 --regularizer vtv=1 --solve V $set \
    --no-norm-init --truth "$pol:/truth"
found "correlation of V" 0.9
hasnot out "correlation of Q"

# threads; a run in two pieces
for threads in 1 2 3 4; do
    expect 2 "$imaging" fit "$pol" --image "$pol:/start" $P -o "t$threads.h5" --threads $threads --quiet --maxiter 40
    cmp -s t1.h5 "t$threads.h5" || fail "$threads threads give another file"
done
expect 2 "$imaging" fit "$pol" --image "$pol:/start" $P --maxiter 15 --state s.bin --quiet
expect 2 "$imaging" fit "$pol" --image "$pol:/start" $P --maxiter 40 --state s.bin --quiet -o pieces.h5
cmp -s t1.h5 pieces.h5 || fail "a run in two pieces ends elsewhere"

# a spectral index of two signs from three frequencies
spectrum=$source/spectrum.h5
channels="$spectrum:/ch1 $spectrum:/ch2 $spectrum:/ch3"
S="--image $spectrum:/start --prior $spectrum:/start --flux 1 --term vis=1 --eps-tv 1e-8"
expect "0|2" "$imaging" fit $channels $S --regularizer simple=0.1,tv=1,l2_alpha=0.01,tv_alpha=0.01 --maxiter 400 \
    --ftol 1e-9 --truth "$spectrum:/image" --truth-alpha "$spectrum:/alpha" -o a.h5
found "correlation with" 0.99
awk '/^alpha is off/ { exit !($NF < 0.1) }' out || fail "the spectral index: $(cat out)"
says "the image is that at 189.677 GHz"
has out "vis_3"
grep '^  J ' out >wanted
# as the file has it
for more in "" "--prior-alpha a.h5:/prior_alpha --prior-beta a.h5:/prior_alpha" "--alpha a.h5:/alpha"; do
    expect 0 "$imaging" eval $channels --image a.h5 --prior a.h5:/prior --flux 1 --term vis=1 --eps-tv 1e-8 $more \
        --regularizer simple=0.1,tv=1,l2_alpha=0.01,tv_alpha=0.01
    grep '^  J ' out | cmp -s - wanted || fail "$more: another J: $(cat out wanted)"
done
expect 0 "$imaging" eval $channels --image a.h5 --prior-alpha a.h5:/alpha --flux 1 --term vis=1 --regularizer l2_alpha=1
awk '$1 == "l2_alpha" && $2 == 0 { n++ } END { exit !n }' out || fail "the prior of alpha is not its start: $(cat out)"
golden=$source/golden_eht.h5
python3 - "$golden" <<'PY' || failed=1
import sys
try:
    import h5py, numpy as np
except ImportError:
    sys.exit(print("no h5py: several frequencies are not compared"))
g = h5py.File(sys.argv[1])
x, prior = (g["multifreq/" + k][:].reshape(3, 10, 12) for k in ("x", "prior_arr"))
with h5py.File("m.h5", "w") as f:
    for name, value in (("image", np.exp(x[0])), ("alpha", x[1]), ("beta", x[2]), ("prior", prior[0]),
                        ("prior_alpha", prior[1]), ("prior_beta", prior[2])):
        f[name] = value
        f[name].attrs["psize"] = g["grid"].attrs["psize"]
PY
if [ -e m.h5 ]; then
    expect 0 "$imaging" eval "$golden:/multifreq/ch0" "$golden:/multifreq/ch1" "$golden:/multifreq/ch2" --image m.h5 \
        --prior m.h5:/prior --reference 230e9 --flux 1.9 --term vis=1,amp=2 --eps-tv 1e-8 --spectral-order 2 \
        --regularizer simple=1,tv=1,l2_alpha=1,tv_alpha=1,l2_beta=0.5
    [ "$(J)" = 1302.041736 ] || fail "several frequencies: J $(J)"
fi
expect 0 "$imaging" eval $channels --image a.h5 --alpha a.h5:/alpha --prior "$spectrum:/start" --flux 1 --term vis=1 \
    --eps-tv 1e-8 --regularizer tv=1,tv_alpha=0.01 -o e.h5
awk '$1 == "vis_1" && $2 < 1.1 { n++ } END { exit !n }' out || fail "alpha does not come back: $(cat out)"
expect 0 "$imaging" fit $channels $S --spectral-order 0 --regularizer simple=0.1,tv=1 --quiet -o o.h5
expect 2 "$imaging" fit $channels $S --spectral-order 2 --maxiter 50 \
    --regularizer simple=0.1,tv=1,l2_alpha=0.01,l2_beta=0.1
expect 2 "$imaging" fit $channels --image "$spectrum:/start" --prior "$spectrum:/start" --flux 1 --eps-tv 1e-8 \
    --maxiter 50 --term vis=1,amp=1 --regularizer tv=1,flux_mf=1,tv_alpha=0.1

# every channel has the closures of its observation
gauss=$source/gauss1600.h5
expect 0 "$imaging" eval "$gauss" --image "$gauss:/grid/prior_blur30" --term cphase=1,logcamp=1,amp=2
awk '/^  (cphase|logcamp|amp)/ { print $1, $2 }' out >one
expect 0 "$imaging" eval "$gauss" "$gauss" --image "$gauss:/grid/prior_blur30" --term cphase=1,logcamp=1,amp=2
for channel in 1 2; do
    awk -v c="_$channel" '$1 ~ c "$" { sub(c, "", $1); print $1, $2 }' out | sort >many
    sort one | cmp -s - many || fail "closures of channels: $(cat one out)"
done

# the total V of the image, where none is given: 5 %
expect 0 "$imaging" eval "$pol" --image "$pol:/truth" --flux 1 --term vvis=1 --regularizer vflux=1
says "vflux, the total V, is 0.0"
awk '$1 == "vflux" { n++; if ($2 > 1e-20) exit 1 } END { exit !n }' out || fail "V: $(cat out)"

# surveys keep all images, and go on
survey() {
    "$imaging" survey "$pol" --image "$pol:/start" $set --term vis=1,pvis=1 --regularizer simple=0.1,tv=1 --maxiter 60 \
        --axis ptv=0.3,1 -o "$@"
}
expect 2 survey one.h5 --threads 1
expect 0 survey two.h5 --part 2/2
expect 2 survey two.h5 --threads 2
has out "1 of 2 points computed"
cmp -s one.h5 two.h5 || fail "parts make another survey"
grep -q images_u one.h5 || fail "a survey without images of U"
expect 2 "$imaging" survey $channels $S --regularizer simple=0.1,tv=1 --maxiter 60 --axis vis=1,3 \
    --axis tv_alpha=0.01,0.1 -o spectra.h5
expect 0 "$imaging" top spectra.h5 --threshold vis_1=100

# what cannot be
wrong() {
    code=$1 text=$2
    shift 2
    expect "$code" "$imaging" "$@"
    says "$text"
    [ ! -e bad.h5 ] || fail "a file was written"
}
start="--image $pol:/start --flux 1 -o bad.h5"
wrong 3 "--solve: 'X' is none of I P V IP IV PV IPV" fit "$pol" $start --term vis=1 --solve X
wrong 3 "--solve: 'IQ' is none of" fit "$pol" $start --term vis=1 --solve IQ
wrong 3 "no term depends on what is solved for: --solve P" fit "$pol" $start --term vis=1 --solve P
wrong 3 "the hyper-parameter 'vflux' has no value" fit "$pol" --npix 16 --fov 160 --flux 1 -o bad.h5 --term vvis=1 \
    --regularizer vflux=1
wrong 4 "no visibilities of Stokes Q for pvis" fit "$spectrum:/ch1" $start --term pvis=1
wrong 3 "a spectrum needs two observations or more" fit "$pol" $start --term vis=1 --spectral-order 1
wrong 3 "--spectral-order: '3' is not 0, 1 or 2" fit $channels $start --term vis=1 --spectral-order 3
wrong 3 "the term 'bs' is not one of several observations; vis" fit $channels $start --term bs=1
wrong 3 "at most 4 observations" fit $channels $channels $start --term vis=1
wrong 3 "is one word too many: info takes one file" info $channels
wrong 4 "no frequency (attribute rf, Hz), which a spectrum needs" fit "$pol" "$pol" $start --term vis=1
finish
