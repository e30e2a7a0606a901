#!/bin/sh
# messages.sh SOURCE -- every message that heads a section of docs/troubleshooting.md is still one of the program: its
# parts between ... stand in this order in one text of the sources, where formats like %s may stand for them.
set -eu
cd "$1"
list=$(mktemp)
trap 'rm -f "$list"' EXIT
# all texts, one a line; those of neighbouring lines joined, as the compiler joins them
find common runtime frontend report -name "*.c" | sort | while read -r file; do
    tr '\n' ' ' <"$file" | sed -E 's/" +"//g' | grep -oE '"([^"\\]|\\.)*"' || true
done | sed -E 's/^"//; s/"$//; s/%%/%/g; s/\\"/"/g' >"$list"
grep '^### ' docs/troubleshooting.md | awk -v list="$list" '
    BEGIN { while ((getline line < list) > 0) text[++n] = line }
    {
        total++
        sub(/^### `(\.\.\.: )?/, ""); sub(/`$/, "") # the file comes first, a field of its own
        parts = split($0, part, /\.\.\./)
        for (k = found = 0; k < n && !found; ) {
            rest = text[++k]
            found = 1
            for (i = 1; i <= parts && found; i++) {
                sub(/^ /, "", part[i]); sub(/ $/, "", part[i])
                at = index(rest, part[i])
                if (!at) found = 0
                else rest = substr(rest, at + length(part[i]))
            }
        }
        if (!found) { print "messages: no text of the program is: " $0; bad = 1 }
    }
    END { print "messages: " total; exit bad || total < 40 }'
