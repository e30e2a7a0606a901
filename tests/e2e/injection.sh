#!/bin/sh
# Texts of strangers in a result stay texts: every string, number and key of fit.json, one after the other, and
# strings of fit.h5 and posterior.nc become markup, an escape sequence and bytes that are no UTF-8.  Neither the page,
# nor a figure, nor what report, plot and compare print may hold them raw: injection.sh BINDIR
set -eu
bin=$1
. "$(dirname "$0")/../support/test.sh"
h=$bin/homodyne r=$bin/homodyne-report
echo 'leak:libfontconfig' >lsan # sanitized builds: fontconfig keeps what it has read, to the end of the program
export LSAN_OPTIONS="suppressions=$dir/lsan:print_suppressions=0" LC_ALL=C
esc=$(printf '\033')

expect 0 "$h" simulate --model static_isotropic -o data.h5 --frames 40 --dt 0.1 --q 0.0054 --phi 0,45 --noise 0.01 \
    --seed 3 --quiet
code=0
"$h" fit --model static_isotropic --data data.h5 -o fit --method nuts --draws 100 --warmup 100 -q >/dev/null 2>&1 ||
    code=$?
[ -s fit/posterior.nc ] || fail "no posterior to be shown; exit code $code"
cp -r fit bad

# Closes an attribute in either quotes, an element and a comment, opens elements, ends a style sheet.  In JSON.
payload="zz9\\\\\\\"'--></style></dd><zz9 onload=zz9>&zz9;\\u001b]0;zz9\\u0007\\u0085\\u202e"
export payload
pages=0
# quiet FILE: nothing in it that acts on a terminal
quiet() {
    if grep -q "$esc" "$1"; then fail "$1 holds an escape sequence: $what"; fi
    if grep -qE "$(printf '\302\205|\342\200\256')" "$1"; then fail "$1 holds controls: $what"; fi
}
# look FILE: nothing is there as markup
look() {
    if grep -qE '<zz9|</style></dd>|&zz9;' "$1"; then fail "$1 holds the markup of a text: $what"; fi
    if grep -qE "\"[^\"]*zz9.?\"'--" "$1"; then fail "$1: a text leaves its attribute: $what"; fi
    quiet "$1"
}
# try: the page made from `bad`; it may also be refused
try() {
    rm -f page.html
    code=0
    "$r" report bad -o page.html >out 2>err || code=$?
    case $code in 0) pages=$((pages + 1)) ;; 4) ;; *) fail "exit code $code with $what" ;; esac
    if [ -f page.html ]; then
        look page.html
        if command -v xmllint >/dev/null; then
            xmllint --noout page.html 2>xml || fail "not well-formed: $what $(head -n 2 xml)"
        fi
    fi
    quiet out
    quiet err
}
# put WHERE MATCH HEAD TAIL: in the lines that the awk condition WHERE picks, HEAD payload TAIL takes the place of MATCH
put() {
    what="$1: $2"
    head=$3 tail=$4 awk "$1"' { if (match($0, /'"$2"'/))
        $0 = substr($0, 1, RSTART - 1) ENVIRON["head"] ENVIRON["payload"] ENVIRON["tail"] substr($0, RSTART + RLENGTH) }
        { print }' fit/fit.json >bad/fit.json
}

for n in $(awk '/: *"[^"]/ || /^ *"[^"]*",?$/ { print NR }' fit/fit.json); do # every string
    case $(sed -n "${n}p" fit/fit.json) in *,) put "NR == $n" '",$' '' '",' ;; *) put "NR == $n" '"$' '' '"' ;; esac
    try
    "$h" compare fit bad >out 2>err || true
    quiet out
    quiet err
done
[ "$pages" -gt 40 ] || fail "only $pages pages were made"
for part in 0 1 2 3 4 5 6; do # numbers and keys, several at a time
    put "NR % 7 == $part" '-?[0-9][-+.e0-9]*,$' '"' '",'
    try
    put "NR % 7 == $part && NR > 20" '":' '' '":'
    try
done
put "NR > 1" '",$' '' '",' # all strings
try
put "/\"settings\"/, /}/" '",$' '' '",'
try

# Strings of the HDF5 files, in their place and as long as they were.
cp fit/fit.json bad/fit.json
for file in fit.h5 posterior.nc; do
    for text in 20..-[01] 'Homodyne two' 'g1 = exp' angstrom homodyne-gen homodyne-static 'H. He et' 'c2(phi, ' \
        contrast D_offset; do
        for lead in '<zz9>' "$esc]0;z"; do
            what="$file: $text"
            sed "s/$text/$lead$(echo "$text" | sed 's/\[01\]/0/' | cut -c6-)/" fit/$file >bad/$file
            try
        done
    done
    cp fit/$file bad/$file
done

# Figures.
put "NR > 1" '",$' '' '",'
"$r" plot bad -f svg -o figures >out 2>err || true
quiet out
quiet err
for f in figures/*; do if [ -e "$f" ]; then look "$f"; fi; done
finish
