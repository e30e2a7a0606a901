#!/bin/sh
# homodyne plot, report and extract of data before any fit: configurations, data files, tables, the options of the
# Python packages; what is refused leaves nothing behind: plot.sh BINDIR
set -eu
bin=$1
. "$(dirname "$0")/../support/test.sh"
examples=$here/../../examples
data=$here/../data
mkdir tmp
export TMPDIR="$dir/tmp"
h=$bin/homodyne
echo 'leak:libfontconfig' >lsan
export LSAN_OPTIONS="suppressions=$dir/lsan:print_suppressions=0"

files() { # files N PATTERN...
    n=$1
    shift
    [ "$(ls "$@" 2>/dev/null | wc -l)" -eq "$n" ] || fail "not $n files: $*: $(ls "$@" 2>/dev/null)"
}

# ---- a configuration: what a fit would see
before=$(ls -l "$examples/laminar" | cksum)
expect 0 "$h" plot "$examples/laminar/experiment.yaml"
files 5 experiment_figures/map_*.svg
files 5 experiment_figures/cuts_*.svg
files 10 experiment_figures/*
has out "5 matrices of 200 frames"
[ "$before" = "$(ls -l "$examples/laminar" | cksum)" ] || fail "the data folder was changed"
expect 0 "$h" plot "$examples/laminar/experiment.yaml" --frames 11:60 --phi 0 -o some --quiet
files 2 some/*
[ ! -s out ] && [ ! -s err ] || fail "--quiet says something: $(cat out err)"
# one colour scale for all angles: the numbers at the colour bars are the same
for f in experiment_figures/map_*.svg; do sed -n 's/.*<text[^>]*>\([0-9.]*\)<.*/\1/p' "$f" | tail -3 |
    tr '\n' ' '; echo; done | sort -u >scales
[ "$(wc -l <scales)" -eq 1 ] || fail "the colour scales differ: $(cat scales)"

expect 0 "$h" report "$examples/laminar/experiment.yaml"
has experiment_data.html '<section id="maps"><h2>Data</h2>'
has experiment_data.html '<section id="cuts">'
[ "$(grep -c '<svg' experiment_data.html)" -eq 10 ] || fail "not ten figures on the page"
! grep -v '^{"group"' experiment_data.html | grep -wE 'nan|inf|-nan' || fail "numbers that are none"
! grep -E '<script[^>]*(src|href)' experiment_data.html || fail "a script from elsewhere"
command -v xmllint >/dev/null && { xmllint --noout experiment_data.html some/*.svg || fail "not well-formed"; }
expect 0 "$h" plot "$examples/laminar/experiment.yaml" --format html -o page
files 1 page/figures.html
if "$h" plot "$examples/laminar/experiment.yaml" --format png -o png >out 2>err; then
    files 10 png/*.png
    expect 0 "$h" plot "$examples/laminar/experiment.yaml" --format pdf -o pdf
    files 10 pdf/*.pdf
else
    grep -q Cairo err || fail "png: $(cat err)"
fi

# ---- the noise of every angle, by neighbouring values, in the file that is drawn
expect 0 "$h" extract "$examples/laminar/experiment.yaml" -o x.h5
if python3 -c 'import h5py' 2>/dev/null; then
    python3 - "$examples/laminar" <<'END' || fail "what extract wrote"
import sys

import h5py

with h5py.File("x.h5") as f:
    assert f["entry/data/c2"].shape == (5, 200, 200)
    assert "c2_model" not in f["entry/data"] and "g2_model" not in f["entry/cuts"]
    assert all(0.0095 < s < 0.0105 for s in f["entry/data/sigma"]), f["entry/data/sigma"][:]
    g2, e = f["entry/cuts/g2"][:, 0, 0], f["entry/cuts/g2_err"][:, 0, 0]
    assert all(1 < v < 1.5 for v in g2) and all(0 < s < 0.01 for s in e)
END
else
    echo "no h5py: not asked what is in x.h5"
fi

# ---- data files without a configuration
expect 0 "$h" plot "$data/chx.h5" -o chx
files 6 chx/*
expect 0 "$h" plot --data "$data/homodyne.npz" -o npz
files 6 npz/*
expect 0 "$h" report "$data/nxxpcs.h5" -o frames.html # its period is not known: frames are counted
has err "counted in frames"
has frames.html "> (frames)</tspan></text>"
expect 0 "$h" report "$data/nxxpcs.h5" --dt 0.5 -o seconds.html
has seconds.html "> (s)</tspan></text>"
expect 4 "$h" plot "$data/aps_u_lzf.h5" -o rings # several q: which one?
has err "choose one"
[ ! -e rings ] || fail "a folder without files"
expect 0 "$h" plot "$data/aps_u_lzf.h5" --q 0.005 --dt 0.003 -o rings

# ---- tables
expect 0 "$h" plot "$examples/diffusion_q/data.csv" --model diffusion_q -o curves
files 5 curves/data_*.svg
expect 0 "$h" report "$examples/kww/data.csv" --model kww -o kww.html
has kww.html "100 values with errors"
! grep -q 'and the residuals' kww.html || fail "residuals without a fit"
expect 3 "$h" plot "$examples/kww/data.csv"
has err "--model"

# ---- the options of the Python packages
expect 0 "$h" --config "$examples/laminar/experiment.yaml" --plot-experimental-data --output-dir peer --method nlsq
files 5 peer/plots/experimental_data/map_*
[ ! -e peer/fit.json ] || fail "a fit, too"
expect 0 "$h" --config "$examples/laminar/experiment.yaml" --plot-simulated-data --output-dir peer \
    --contrast 0.4 --offset-sim 1.1 --phi-angles 0,45,90
files 3 peer/plots/simulated_data/map_*
[ -s peer/plots/simulated_data/simulated.h5 ] || fail "the simulated data were not kept"
expect 0 "$h" extract --model static_isotropic --data peer/plots/simulated_data/simulated.h5 -o s.h5
has out "3 matrices of 200 frames"

# ---- refusals
expect 4 "$h" plot nowhere.yaml
expect 3 "$h" plot
expect 3 "$h" plot "$examples/laminar/experiment.yaml" --format gif
expect 3 "$h" plot "$examples/laminar/experiment.yaml" --draws 100
sed 's/experiment.h5/gone.h5/' "$examples/laminar/experiment.yaml" >gone.yaml
expect 4 "$h" plot gone.yaml
[ ! -e gone_figures ] || fail "a folder without data"
head -c 3000 "$data/chx.h5" >cut.h5
expect 4 "$h" plot cut.h5
expect 3 "$h" extract "$examples/laminar/experiment.yaml"

[ -z "$(ls tmp)" ] || fail "temporary files stay: $(ls tmp)"
finish
