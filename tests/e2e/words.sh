#!/bin/sh
# words.sh BINDIR GUIDE GENERATOR_SOURCE -- docs/models.md has every word of `homodyne-gen --words`, every option and
# every prior of the generator.  (What it shows is run by page.sh.)
set -eu
bin=$1 guide=$2 source=$3
bad=0
fail() {
    echo "words: $*"
    bad=1
}
word() { grep -qE "(^|[^a-zA-Z0-9_.])$(printf %s "$1" | sed 's/\./\\./')([^a-zA-Z0-9_]|\$)" "$guide"; }

words=0
for w in $("$bin/homodyne-gen" --words); do
    words=$((words + 1))
    word "$w" || fail "the guide lacks the word $w"
done
[ "$words" -gt 60 ] || fail "homodyne-gen --words prints only $words words"
options=$(sed -nE 's/.*(dsl_check_keys|unit_or_options)\([^"]*"[^"]*", "([a-z ]*)( \[1\])?".*/\2/p' \
    "$source"/language/dsl_*.c)
[ "$(echo "$options" | wc -w)" -gt 15 ] || fail "the options of the language were not found"
priors=$(sed -nE 's/.*ROW\([A-Z_]+, "([a-z_]+)".*/\1/p' "$source"/../runtime/include/fit/kernel.h)
[ "$(echo "$priors" | wc -w)" -gt 6 ] || fail "the priors of the language were not found"
for w in $options $priors; do
    word "$w" || fail "the guide lacks the option $w"
done
echo "words: $words"
exit $bad
