#!/bin/sh
# Static analysis: cppcheck and clang-tidy over the generator, the runtime, the programs, the library, and one
# emitted kernel of each kind.  Usage: lint.sh BUILD [FILE...]: some files only.
#
# BUILD is configured and has the kernels of laminar (pairs) and kww (rows).  Prints findings and exits with 1 when
# there are any.  What is left out, and why: .clang-tidy, build-aux/lint/cppcheck.txt.  JOBS=N: so many at a time.
set -eu
build=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
for tool in cppcheck clang-tidy; do
    command -v $tool >/dev/null || { echo "lint: $tool is missing (Debian: apt-get install $tool)" >&2; exit 1; }
done

folders="api common frontend generator report runtime"
if [ $# -eq 0 ]; then
    # shellcheck disable=SC2046,SC2086  # lists of words
    set -- $(find $folders -name '*.c' | sort) \
        $(find "$build" -path '*/laminar/laminar.c' -o -path '*/kww/kww.c' | sort)
fi
include=
for folder in . $folders runtime/include; do
    include="$include -I $folder"
done
bad=0

# hg_bug(), hg_out_of_memory() and dsl_fail() do not return, which cppcheck reads from abort() but not from _Noreturn.
# shellcheck disable=SC2086
cppcheck -q -j"$jobs" --std=c11 --language=c --library=posix --library=gnu --error-exitcode=1 \
    --enable=warning,performance,portability --suppressions-list=build-aux/lint/cppcheck.txt \
    '-Dhg_bug(...)=abort()' '-Dhg_out_of_memory(...)=abort()' '-Ddsl_fail(...)=abort()' -DFIT_VERSION='"0"' $include \
    --template='{file}:{line}: {severity}: {message} [{id}]' "$@" || bad=1

# Findings with the notes behind them, but for those that build-aux/lint/clang-tidy.txt lists.
findings=$(mktemp)
trap 'rm -f "$findings"' EXIT
printf '%s\n' "$@" | xargs -P "$jobs" -n 4 clang-tidy --quiet -p "$build" --config-file=.clang-tidy \
    --extra-arg=-Wno-unknown-warning-option --extra-arg=-include --extra-arg="$PWD/build-aux/lint/analyzer.h" \
    2>/dev/null | awk -v root="$PWD/" '
    # What is FIT_OWNED is freed at the end of its scope, of which the analyzer knows nothing.
    function is_owned(file, check, text, name) {
        if (check != "clang-analyzer-unix.Malloc" || !match(text, /pointed to by .[A-Za-z0-9_]+/)) return 0
        name = substr(text, RSTART + 15, RLENGTH - 15)
        return system("grep -Eq \"FIT_OWNED [^;=]*[*]" name "( |;|,)\" \"" file "\"") == 0 }
    FNR == NR { if ($0 !~ /^#/ && NF == 2) known[$1 " " $2] = 1; next }
    /: (warning|error): / {
        file = $0; sub(/:[0-9]+:[0-9]+: .*/, "", file)
        if (index(file, root) == 1) file = substr(file, length(root) + 1)
        check = $0; sub(/.*\[/, "", check); sub(/[],].*/, "", check)
        show = !((check " " file) in known) && !is_owned(file, check, $0) && !seen[$0]++ }
    show' build-aux/lint/clang-tidy.txt - >"$findings" || true
if [ -s "$findings" ]; then
    cat "$findings"
    bad=1
fi
[ $bad -eq 0 ] && echo "lint: $# files, no findings"
exit $bad
