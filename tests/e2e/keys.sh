#!/bin/sh
# keys.sh BINDIR SOURCE -- docs/keys.md says what the program does with every key of a configuration, and every key of
# the templates of the Python packages is known.  UPDATE=1 writes the page anew.
set -eu
bin=$1 source=$2
bad=0
said=$(mktemp)
trap 'rm -f "$said"' EXIT
"$source/build-aux/keys.sh" "$bin" "$source" >"$said"
[ -z "${UPDATE-}" ] || cp "$said" "$source/docs/keys.md"
diff -u "$source/docs/keys.md" "$said" || {
    echo "keys: docs/keys.md is not what the program does; UPDATE=1 $0 $* writes it anew"
    bad=1
}
"$bin/homodyne" config --keys | awk '
    FNR == NR { if (/^[^ ]/) known[$1] = 1; else if (!/[a-z]/) empty = 1; next }
    /^#/ { next }
    { n++; path = $1
      while (!(path in known) && sub(/\.[^.]*$/, "", path)) ;
      if (!(path in known)) { print "keys: " $1 " of the packages is not known"; bad = 1 } }
    END { if (empty) print "keys: a key without a word about it"
          print "keys: " n " of the packages"
          exit bad || empty || n < 500 }' - "$source/tests/data/config/package-keys.txt" || bad=1
exit $bad
