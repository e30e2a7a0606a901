#!/bin/sh
# The installed package as a stranger's C program sees it: installed.sh BUILD SOURCE CC [CFLAGS...].
# Installs into a temporary prefix, compiles examples/c/fit_arrays.c with what pkg-config says, runs it there.
set -eu
build=$1 source=$2 cc=$3
shift 3
command -v pkg-config >/dev/null || { echo "skipped: no pkg-config"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "FAILED: $*"; exit 1; }

cmake --install "$build" --prefix "$dir/prefix" >"$dir/install.log" 2>&1 || { tail "$dir/install.log"; fail install; }
pc=$(find "$dir/prefix" -name homodyne-gen.pc)
[ -n "$pc" ] || fail "no homodyne-gen.pc was installed"
mv "$dir/prefix" "$dir/moved" # nothing may depend on where it was put
PKG_CONFIG_PATH=$dir/moved/${pc#"$dir/prefix/"}
PKG_CONFIG_PATH=${PKG_CONFIG_PATH%/*}
export PKG_CONFIG_PATH
lib=$(pkg-config --variable=libdir homodyne-gen)
[ -f "$lib/homodyne-gen/kww.so" ] || fail "no models in $lib/homodyne-gen"

# shellcheck disable=SC2046  # words of pkg-config
"$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror "$@" "$source/examples/c/fit_arrays.c" \
    $(pkg-config --cflags --libs homodyne-gen) -lm -o "$dir/fit_arrays"
LD_LIBRARY_PATH=$lib "$dir/fit_arrays" >"$dir/out" || { cat "$dir/out"; fail "the example ends with $?"; }
cat "$dir/out"

# What the example puts in comes out, within four of its own errors; beside the noise, waves of sqrt(1/2 + 1/2).
awk '
    BEGIN { truth["tau"] = 0.5; truth["beta"] = 0.7; truth["contrast"] = 0.2; truth["baseline"] = 1 }
    $3 == "+-" { seen++; if (($2 - truth[$1])^2 > 16 * $4^2 || $4 <= 0 || $4 > 0.01) { print "off: " $0; bad = 1 } }
    /^converged/ { end = 1; if ($3 < 0.5 || $3 > 1.5) { print "chi2: " $0; bad = 1 } }
    END { exit bad || seen != 4 || !end }' "$dir/out" || fail "numbers of the example"

# docs/c-api.md: its program; it names every function of the header, and nothing that is not there.
doc=$source/docs/c-api.md header=$source/api/fit_api.h
awk '/^```c$/ { on = 1; next } /^```/ { on = 0 } on' "$doc" >"$dir/page.c"
# shellcheck disable=SC2046
"$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror "$@" "$dir/page.c" $(pkg-config --cflags --libs homodyne-gen) \
    -lm -o "$dir/page"
LD_LIBRARY_PATH=$lib "$dir/page" >"$dir/out" 2>"$dir/err" ||
    { cat "$dir/err"; fail "the program of docs/c-api.md ends with $?"; }
grep -q '^gamma_dot_t_offset = 0.0003' "$dir/out" || { cat "$dir/out"; fail "no tied value"; }
grep -q '^sigma\[1\]' "$dir/out" || fail "no noise among the draws"
grep -qE '^(good|doubtful|failed): ' "$dir/out" || fail "no verdict"
grep -q '^sampling: ' "$dir/err" || fail "no progress"
names() { grep -oE 'fit_api_[a-z_]+[(]' "$1" | tr -d '(' | grep -v '_fn$' | sort -u; }
names "$header" | while read -r name; do
    grep -q "$name" "$doc" || { echo "$doc does not name $name"; exit 1; }
done || fail "docs/c-api.md"
grep -oE 'fit_api_[a-z_]+' "$doc" | sort -u | while read -r name; do
    [ "$name" = fit_api_h ] || grep -q "$name" "$header" || { echo "$header has no $name"; exit 1; }
done || fail "docs/c-api.md"

# One interface: no other library and no header but that and what emitted kernels include; kernels find these, a CMake
# project finds the library, and the installed program compiles models.
find "$dir/moved" -name '*homodyne-fit*' ! -name '*.1' | grep . && fail "a second library"
include=$(pkg-config --variable=includedir homodyne-gen)
find "$dir/moved" -name '*.h' |
    grep -v -e '/include/homodyne-gen/fit/[a-z_]*.h$' -e '/include/homodyne-gen/fit_api.h$' &&
        fail "headers of the inside"
"$dir/moved/bin/homodyne-gen" "$source/models/kww.lua" -o "$dir" >/dev/null 2>&1 || fail "homodyne-gen"
"$cc" -std=gnu11 -O1 -fsyntax-only -DFIT_KERNEL_SYMBOL=kww -DFIT_KERNEL_ISA='"any"' -DFIT_ISA_SUFFIX=_any \
    -I"$include" "$dir/kww.c" || fail "an emitted kernel and the installed headers"
XDG_CACHE_HOME=$dir/cache CC=$cc "$dir/moved/bin/homodyne" info --model "$source/models/kww.lua" >"$dir/out" 2>&1 ||
    { cat "$dir/out"; fail "homodyne info --model"; }
grep -q beta "$dir/out" || { cat "$dir/out"; fail "homodyne info --model tells no parameters"; }
mkdir "$dir/project"
cat >"$dir/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(stranger C)
find_package(homodyne-gen REQUIRED CONFIG)
add_executable(fit_arrays fit_arrays.c)
target_link_libraries(fit_arrays PRIVATE homodyne-gen::homodyne-gen m)
END
cp "$source/examples/c/fit_arrays.c" "$dir/project"
{
    cmake -S "$dir/project" -B "$dir/project/build" -DCMAKE_PREFIX_PATH="$dir/moved" -DCMAKE_C_COMPILER="$cc" \
        -DCMAKE_C_FLAGS="$*" && cmake --build "$dir/project/build"
} >"$dir/out" 2>&1 || { cat "$dir/out"; fail "find_package(homodyne-gen)"; }

# The library shows its interface and nothing else, and the header is that of C++ as well.
if command -v nm >/dev/null; then
    nm -D --defined-only "$lib/libhomodyne-gen.so" | awk '$3 !~ /^fit_api_/ { print; bad = 1 } END { exit bad }' ||
        fail "symbols that are not of the interface"
fi
if command -v c++ >/dev/null; then
    echo '#include <fit_api.h>' |
        c++ -x c++ -Wall -Wpedantic -Werror -fsyntax-only $(pkg-config --cflags homodyne-gen) - ||
        fail "fit_api.h in C++"
fi
echo ok
