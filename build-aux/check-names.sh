#!/bin/sh
# The runtime knows no model by name: what it must know of one is a field of its descriptor (fit/kernel.h), what names
# there are stands in the models' files.  Prints each text of runtime/, api/ or report/ that is the name of a model, an
# alias or a mode, and exits with 1 when there is one; fit_peer_... are names of packages and in their files.
# Usage: check-names.sh SOURCE_DIR
set -eu
cd "$1"
quoted=$(grep -hoE '^local m = model "[a-z_]+"|^    alias = \{[^}]*\},$|mode = "[a-z_]+",$' models/*.lua |
    grep -oE '"[a-z_]+"' | sort -u)
[ "$(echo "$quoted" | grep -c .)" -ge 14 ] || { echo "too few names: $quoted"; exit 1; }
# shellcheck disable=SC2046,SC2086  # one -e for each name; the second time without comments
set -- $(printf ' -e %s' $quoted)
if grep -rnF "$@" --include='*.[ch]' runtime api report | grep -v fit_peer_ | sed 's|/\*.*||' |
    grep -vE '^[^:]*:[0-9]+: \*' |
    grep -F "$@"; then
    exit 1
fi
