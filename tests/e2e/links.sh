#!/bin/sh
# links.sh SOURCE -- links between the pages of the documentation, and from README.md and CHANGELOG.md, lead somewhere:
# files exist, and headings, by the names that GitHub and build-aux/docs.sh give them.  No network.
set -eu
cd "$1"
bad=0 n=0
pages="README.md CHANGELOG.md NOTICE.md examples/README.md docs/*.md"

# lines outside of fenced blocks
prose() { awk '/^```/ { inside = !inside; next } !inside' "$1"; }
headings() {
    prose "$1" | awk '/^#+ / {
        s = tolower($0); sub(/^#+ /, "", s); gsub(/[^a-z0-9_ \200-\377-]/, "", s); gsub(/ /, "-", s)
        print seen[s]++ ? s "-" (seen[s] - 1) : s }'
}

for page in $pages; do
    for link in $(prose "$page" | sed 's/`[^`]*`//g' | grep -oE '\]\([^)]*\)|^\[[^]]*\]: .*' |
        sed -E 's/^\]\(//; s/\)$//; s/^\[[^]]*\]: *//' |
        grep -vE '^(https?|mailto):'); do
        n=$((n + 1))
        file=${link%%#*} anchor=
        case $link in *#*) anchor=${link#*#} ;; esac
        if [ -z "$file" ]; then file=$page; else file=$(dirname "$page")/$file; fi
        if [ ! -e "$file" ]; then
            echo "links: $page: no file $link"
            bad=1
        elif [ -n "$anchor" ] && ! headings "$file" | grep -qx -- "$anchor"; then
            echo "links: $page: no heading $link"
            bad=1
        fi
    done
done
[ "$n" -gt 20 ] || { echo "links: only $n found"; bad=1; }
for page in docs/*.md; do
    [ "$page" = docs/index.md ] || grep -qF "(${page#docs/})" docs/index.md || {
        echo "links: docs/index.md does not list $page"
        bad=1
    }
done
echo "links: $n"
exit $bad
