#!/bin/sh
# The same two-time data, stored in ways that the own reader of HDF5 leaves to libhdf5, or in other files: `inspect` and
# `fit` give the same numbers, with a note; what is broken or leads elsewhere ends with exit code 4 and a sentence.
#     hdf5.sh BINDIR
set -u
bin=$(cd "$1" && pwd)
. "$(dirname "$0")/../support/test.sh"
data=$here/../data/hdf5
unset HDF5_EXT_PREFIX HDF5_VDS_PREFIX
HDF5_PLUGIN_PATH=$dir/none
export HDF5_PLUGIN_PATH
fit="$bin/homodyne-static_isotropic fit --threads 1 --quiet"

# values FILE: what `inspect` says of the first matrix
values() {
    expect 0 "$bin/homodyne" inspect "$1"
    grep '^\[0\]: values' out
}

# parameters FOLDER: estimates and errors of a fit, to four digits: scaleoffset is not exact
parameters() {
    awk '/"(value|std|cost)":/ { printf "%s %.4g\n", $1, $2 }' "$1/fit.json"
}

cp -r "$data" in
wanted=$(values in/plain.h5)
hasnot out 'libhdf5'
expect 0 $fit --data in/plain.h5 -o plain
parameters plain >plain.txt
[ -s plain.txt ] || fail "no parameters in plain/fit.json"

# same NAME NOTE: the values and the fit of plain.h5, and the note
same() {
    [ "$(values "in/$1.h5")" = "$wanted" ] || fail "$1: other values than those of plain.h5: $(cat out)"
    has out "note: in/$1.h5: $2"
    expect 0 $fit --data "in/$1.h5" -o "$1"
    has "$1/fit.json" "$2"
    has "$1/summary.txt" "$2"
    parameters "$1" | cmp -s - plain.txt || fail "$1: another fit: $(parameters "$1" | diff - plain.txt)"
}

# own NAME: the values and the fit of plain.h5, without a note
own() {
    [ "$(values "in/$1.h5")" = "$wanted" ] || fail "$1: other values than those of plain.h5: $(cat out)"
    hasnot out 'libhdf5'
    expect 0 $fit --data "in/$1.h5" -o "$1"
    parameters "$1" | cmp -s - plain.txt || fail "$1: another fit: $(parameters "$1" | diff - plain.txt)"
}
for stored in bitshuffle bitshuffle_plain lz4; do own "$stored"; done
if "$bin/homodyne" --version --verbose | grep -q 'Zstandard'; then
    for stored in bitshuffle_zstd zstd; do own "$stored"; done
else
    echo "Zstandard: not tried, these programs were built without it"
fi
same virtual_detector 'read by libhdf5'
has virtual_detector/fit.json 'values of sources/detector.h5, sources/part_1.h5'
same scaleoffset 'read by libhdf5'
same nbit 'read by libhdf5'
same long_double 'read by libhdf5'
same virtual 'read by libhdf5'
has virtual/fit.json 'virtual dataset, values of sources/part_0.h5, sources/part_1.h5'
same link 'a link leads to in/sources/all.h5'
if "$bin/homodyne" inspect in/szip.h5 2>&1 | grep -q 'szip.*was built without'; then
    echo "szip: not tried, this libhdf5 does not read it"
else
    same szip 'read by libhdf5'
fi

# broken FILE TEXT...: for inspect and fit
broken() {
    file=$1
    shift
    for command in "$bin/homodyne inspect in/$file.h5" "$fit --data in/$file.h5 -o no"; do
        expect 4 $command
        for text; do says "$text"; done
        [ "$(wc -l <err)" -le 2 ] || fail "$file: more than a sentence: $(cat err)" # nothing of libhdf5's own
    done
}
broken blosc 'filter 32001 (blosc)' HDF5_PLUGIN_PATH
hasnot err h5repack
broken virtual_gone 'c2 in sources/part_7.h5, which is not there' HDF5_VDS_PREFIX
broken link_gone 'links to sources/none.h5, which is not there' 'c2 (a link that leads to nothing)'
broken link_circle 'links lead in a circle'
broken cut 'truncated: 4000 bytes of 10848'
cp "$here/../data/aps_legacy.h5" .
broken link_outside '../aps_legacy.h5, which lies outside of the folder of the file' HDF5_EXT_PREFIX
head -c 3000 "$data/sources/part_1.h5" >in/sources/part_1.h5
broken virtual 'sources/part_1.h5: cannot be opened as HDF5 (truncated' 'a virtual dataset of in/virtual.h5'

# a declared fill value stands for a source that is missing, and is doubted
expect 0 "$bin/homodyne" inspect in/virtual_filled.h5
has out 'sources of /c2 that are not there: 1, first c2 in sources/part_7.h5; the fill value'
mv in/sources far
cp "$data/sources/part_1.h5" far
broken virtual_far '/no/such/folder/part_0.h5, which is not there'
HDF5_VDS_PREFIX=$dir/far
export HDF5_VDS_PREFIX
[ "$(values in/virtual_far.h5)" = "$wanted" ] || fail "sources in HDF5_VDS_PREFIX: $(cat out err)"
finish
