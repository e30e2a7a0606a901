#!/bin/sh
# check-rooms.sh SOURCE -- build-aux/check-rooms.sh notices what it is there for: in a copy of the sources, one offence
# of each kind at a time.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$1"
mkdir "$work/docs" "$work/build-aux"
cp -r common runtime generator api frontend report tests bench "$work"
cp docs/code.md "$work/docs"
cp build-aux/rooms.txt build-aux/check-rooms.sh "$work/build-aux"
cd "$work"
fail() {
    echo "check-rooms: $*" >&2
    exit 1
}
build-aux/check-rooms.sh . >said || fail "the sources as they are: $(cat said)"
# offence FILE LINE WORDS: LINE at the end of FILE makes the check say WORDS
offence() {
    mkdir -p "$(dirname "$1")"
    [ ! -e "$1" ] || cp "$1" kept
    echo "$2" >>"$1"
    ! build-aux/check-rooms.sh . >said || fail "'$2' in $1 goes unnoticed"
    grep -qF -- "$3" said || fail "'$2' in $1: $(cat said)"
    if [ -e kept ]; then mv kept "$1"; else rm "$1"; fi
}
offence runtime/base/clock.c '#include "data/dataset.h"' 'runtime/base may not include runtime/data'
offence runtime/sampler/nuts.h '#include "fit/fit.h"' 'runtime/sampler may not include runtime/fit'
offence runtime/data/dataset.h '#include "hdf5/bytes.h"' 'runtime/hdf5 does not show "hdf5/bytes.h"'
offence runtime/data/dataset.h '#include <hdf5.h>' 'runtime/data may not know <hdf5.h>'
offence runtime/math/linalg.c '# include <cblas.h>' 'their bits depend on the machine'
offence generator/graph/diff.c '#include "model/model.h"' 'generator/graph may not include generator/model'
offence generator/emit/emit.c '#include "runtime/base/status.h"' 'generator/emit may not include runtime/base'
offence generator/model/model.c '#include <lua.h>' 'generator/model may not know <lua.h>'
offence runtime/fit/fit.c '#include "fit.h"' 'does not name its room'
offence report/page/page.c '#include "report/draw/none.h"' 'there is no "report/draw/none.h"'
offence runtime/attic/old.c 'int x;' 'runtime/attic is no room'
offence runtime/fit/fit.c 'void f(void) { printf("x"); }' 'only main.c prints'
offence runtime/fit/fit.c 'void f(void) { exit(1); }' 'only main.c exits'
offence build-aux/rooms.txt 'runtime/loft: nothing' 'no file is in runtime/loft'
sed -i 's/^| `runtime\/base\/` |/| `runtime\/ground\/` |/' docs/code.md
build-aux/check-rooms.sh . >said && fail "another table in docs/code.md goes unnoticed"
grep -q 'docs/code.md: the table' said || fail "$(cat said)"
cp "$1/docs/code.md" docs/code.md
sed -i 's/^runtime\/base: .*/&\n    includes runtime\/data/' build-aux/rooms.txt
build-aux/check-rooms.sh . >said && fail "a cycle of rooms goes unnoticed"
grep -q 'runtime/base stands above runtime/data' said || fail "$(cat said)"
cp "$1/build-aux/rooms.txt" build-aux/rooms.txt
if command -v git >/dev/null; then
    git init -q . && echo >left.h5 && git add left.h5
    build-aux/check-rooms.sh . >said && fail "a file at the top of the source goes unnoticed"
    grep -q 'left.h5: does not belong' said || fail "$(cat said)"
    rm -rf .git left.h5
fi
offence runtime/fit/fit.c "/* $(printf '%0118d' 0) */" '124 columns; a line has at most 120'
# and in every other kind of file that is written by hand; 120 characters of more bytes are within the limit
offence report/live.js "/* $(printf '%0115d' 0) */" 'report/live.js:'
for file in frontend/viewer/view.css frontend/viewer/view.html generator/language/prelude.lua tests/e2e/words.sh \
    tests/support/browser.py build-aux/embed.cmake frontend/CMakeLists.txt python/homodyne_gen/long.py \
    models/long.lua templates/long.html Makefile; do
    offence "$file" "$(printf '%0121d' 0)" "$file:"
done
mkdir -p python && echo "# $(printf '%0117d' 0)σ" >python/sigma.py
build-aux/check-rooms.sh . >said || fail "120 characters of 121 bytes: $(cat said)"
rm -r python
offence bench/clock.c "static void long_one(void)
{
$(printf '    f();\n%.0s' $(seq 61))
}" 'bench/clock.c:1: long_one has 64 lines'
LONGISH=$(printf '    f();\n%.0s' $(seq 40))
offence runtime/fit/fit.c "$(for k in $(seq 21); do printf 'static void f%d(void)\n{\n%s\n}\n' "$k" "$LONGISH"; done)" \
    'functions have more than 40 lines, 20 may'
for k in $(seq 46); do echo >"runtime/math/file$k.c"; done
build-aux/check-rooms.sh . >said && fail "a folder of more than 45 files goes unnoticed"
grep -q 'runtime/math: .* C files' said || fail "$(cat said)"
