#!/bin/sh
# run.sh BINDIR -- optimizers of this project beside libLBFGS and NLopt (Debian: liblbfgs-dev libnlopt-dev) on the image
# of docs/imaging.md: J after 200 iterations and at most 10,000 (J* = 0.4395894 is unique), evaluations, seconds of one
# thread.  NLopt counts evaluations instead of iterations.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
imaging=$(cd "${1:-build/bin}" && pwd)/homodyne-imaging
source=$(cd "$here/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cc -O2 -shared -fPIC -I"$source/runtime/include" -o libraries.so "$here/libraries.c" -llbfgs -lnlopt ||
    { echo "skipped: no liblbfgs-dev, no libnlopt-dev"; exit 77; }
data=$source/tests/data/imaging/gauss1600.h5
echo "optimizer      maxiter            J     evaluations  user s"
for n in 200 ${MOST:-10000}; do
    for o in lbfgsb lbfgs-zoom lbfgs-bt ./libraries.so:liblbfgs ./libraries.so:nlopt_lbfgs; do
        /usr/bin/time -o seconds -f %U "$imaging" fit "$data" --image "$data:/grid/prior" --prior "$data:/grid/prior" \
            --term vis=1 --regularizer simple=1,tv=1 --eps-tv 1e-10 --ftol 1e-14 --gtol 1e-7 --maxiter "$n" \
            --threads 1 \
            --optimizer "$o" >out 2>err || [ $? -eq 2 ]
        awk -v o="${o##*:}" -v n="$n" -v s="$(tail -1 seconds)" '$1 == "J" { J = $2 }
            match($0, /[0-9]+ evaluations/) { e = substr($0, RSTART, RLENGTH) + 0 }
            END { printf "%-14s %7d  %12s %12d  %8s\n", o, n, J, e, s }' out
    done
done
