#!/bin/sh
# Boundaries between the parts of the source, proved by looking at #include lines and at calls that print or
# exit.  Usage: check-includes.sh [SOURCE_DIR].  Prints each offence and exits with 1 when there is one.
set -eu
cd "${1:-.}"
bad=$(mktemp)
trap 'rm -f "$bad"' EXIT

sources() { # sources DIR: the C files below it
    [ -d "$1" ] && find "$1" -name '*.[ch]' | sort || true
}

# only RULE PATTERN DIR ALLOWED...: lines matching PATTERN below DIR may stand in the ALLOWED files only.
# Lines that are only a comment do not count.
only() {
    rule=$1 pattern=$2 dir=$3
    shift 3
    sources "$dir" | xargs grep -nHE "$pattern" /dev/null | grep -vE '^[^:]*:[0-9]+:[[:space:]]*(/\*|\*|//)' |
        while IFS= read -r line; do
            for a in "$@"; do
                # shellcheck disable=SC2254  # ALLOWED holds patterns
                case ${line%%:*} in $a) continue 2 ;; esac
            done
            echo "$line   <- $rule"
        done >>"$bad"
}

include='^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]'

only "the generator shares fit/kernel.h with the runtime, nothing else" \
    "$include(\.\./)*(runtime/|fit/([^k]|k[^e]))" generator
only "the runtime knows nothing of the generator" "$include(\.\./)*generator/" runtime
only "Lua is known to generator/language only" "$include(lua|lauxlib|lualib)\.h" generator 'generator/language/*'
only "the runtime never links Lua" "$include(lua|lauxlib|lualib)\.h" runtime
only "hdf5.h is known to the HDF5 files only" "$include(hdf5|hdf5_hl|H5.*)\.h" runtime \
    'runtime/hdf5/*'
only "yaml.h is known to yaml_tree.c only" "${include}yaml\.h" runtime runtime/files/yaml_tree.c
only "no BLAS and LAPACK: their bits depend on the machine" "$include.*(cblas|lapacke|openblas).*\.h" runtime
only "what emitted kernels include knows the C library and fit/ only" \
    "$include([^fms]|f[^il]|fl[^o]|m[^a]|s[^t])" runtime/include
only "only main.c prints" "(^|[^a-zA-Z0-9_>.])(printf|puts|perror|putchar)[[:space:]]*\(" runtime \
    runtime/commands/main.c
only "only main.c knows stdout and stderr" "(^|[^a-zA-Z0-9_\"])(stdout|stderr)([^a-zA-Z0-9_\"]|$)" runtime \
    runtime/commands/main.c runtime/base/status.h
only "only main.c exits" "(^|[^a-zA-Z0-9_])(exit|_exit|abort)[[:space:]]*\(" runtime runtime/commands/main.c

if [ -s "$bad" ]; then
    cat "$bad"
    exit 1
fi
