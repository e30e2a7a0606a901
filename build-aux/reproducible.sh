#!/bin/sh
# Builds what is committed twice, in two folders, and compares the two installations byte by byte:
# reproducible.sh FOLDER [CMAKE-OPTION..] Prints what differs; the exit status is 1 then. Twenty minutes on two cores.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
[ $# -ge 1 ] || { echo "usage: reproducible.sh FOLDER [CMAKE-OPTION..]" >&2; exit 3; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
commit=$(git -C "$root" rev-parse HEAD)
shift
for turn in one another/place; do
    rm -rf "${out:?}/$turn"
    mkdir -p "$out/$turn"
    git -C "$root" archive "$commit" | tar -x -C "$out/$turn"
    (cd "$out/$turn" && cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DFIT_TESTS=OFF "$@" >/dev/null &&
        cmake --build build --parallel "${JOBS:-2}" >build.log 2>&1 &&
        DESTDIR=$out/$turn/installed cmake --install build --prefix /usr >/dev/null) || {
        tail -n 20 "$out/$turn/build.log" >&2
        exit 1
    }
done
n=$(find "$out/one/installed" -type f | wc -l)
diff -r "$out/one/installed" "$out/another/place/installed" ||
    { echo "reproducible: the two builds differ" >&2; exit 1; }
echo "$n files, the same bytes twice"
