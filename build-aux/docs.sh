#!/bin/sh
# docs.sh CMARK SOURCE FOLDER VERSION -- the pages docs/*.md and CHANGELOG.md as HTML, with docs/html/page.html around
# each and docs/html/page.css beside them.
#
# cmark-gfm (the parser of GitHub, so that pages look alike in both places) translates.  Added here: identifiers of
# headings by GitHub's rule, links between pages, boxes in which wide tables scroll, and the navigation: it is the list
# of links in docs/index.md.
set -eu
cmark=$1 source=$2 out=$3 version=$4
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# pages in the order of index.md: NAME<tab>TITLE; headings between them: <tab>TITLE
awk 'BEGIN { print "index\tHome" }
     /^## / { heading = "\t" substr($0, 4) }
     /^[-*] \[[^]]*\]\([a-z-]+\.md\)/ {
         title = $0; sub(/^[-*] \[/, "", title); sub(/\].*/, "", title)
         name = $0; sub(/^[^(]*\(/, "", name); sub(/\.md\).*/, "", name)
         if (heading != "") print heading
         heading = ""
         print name "\t" title }
     END { print "changes\tChanges" }' "$source/docs/index.md" >"$work/order"

for page in "$source"/docs/*.md; do
    name=$(basename "$page" .md)
    cut -f 1 "$work/order" | grep -qx "$name" || {
        echo "docs.sh: docs/index.md does not list $name.md" >&2 # nor will the menu; tests/e2e/links.sh fails
    }
    cp "$page" "$work/$name.md"
done
cp "$source/CHANGELOG.md" "$work/changes.md"

for page in "$work"/*.md; do
    name=$(basename "$page" .md)
    "$cmark" --unsafe -e table -e strikethrough --to html "$page" |
        awk -v name="$name" -v order="$work/order" -v template="$source/docs/html/page.html" -v version="$version" '
        function plain(html) { gsub(/<[^>]*>/, "", html); return html }
        function slug(html,    s) {
            s = tolower(plain(html))
            gsub(/&[a-z]+;/, "", s)
            gsub(/[^a-z0-9_ \200-\377-]/, "", s)
            gsub(/ /, "-", s)
            return seen[s]++ ? s "-" (seen[s] - 1) : s
        }
        function nav(    line, field, html) {
            while ((getline line < order) > 0) {
                split(line, field, "\t")
                if (field[1] == "") { html = html "<p>" field[2] "</p>\n"; continue }
                if (field[1] != name && !found) before = line
                if (found == 1) { after = line; found = 2 }
                here = field[1] == name ? " aria-current=\"page\"" : ""
                html = html "<a href=\"" field[1] ".html\"" here ">" field[2] "</a>\n"
                if (field[1] == name) { found = 1; if (name != "index") html = html contents }
            }
            return html
        }
        function step(line, class, word,    field) {
            if (line == "") return ""
            split(line, field, "\t")
            return "<a class=\"" class "\" href=\"" field[1] ".html\"><small>" word "</small>" field[2] "</a>"
        }
        {
            # links: of pages; what is not a page has no place beside them
            while (match($0, /href="[a-z-]+\.md/))
                $0 = substr($0, 1, RSTART + RLENGTH - 4) ".html" substr($0, RSTART + RLENGTH)
            gsub(/href="\.\.\/CHANGELOG\.md/, "href=\"changes.html")
            gsub(/href="docs\//, "href=\"")
            while (match($0, /<a href="\.\.\/[^>]*>[^<]*(<code>[^<]*<\/code>)?<\/a>/)) {
                link = substr($0, RSTART, RLENGTH); left = substr($0, 1, RSTART - 1)
                right = substr($0, RSTART + RLENGTH)
                sub(/^<a[^>]*>/, "", link); sub(/<\/a>$/, "", link)
                $0 = left link right
            }
        }
        /^<h[1-4]>/ {
            level = substr($0, 3, 1); text = $0
            sub(/^<h[1-4]>/, "", text); sub(/<\/h[1-4]>$/, "", text)
            id = slug(text)
            if (level == 1 && title == "") title = plain(text)
            if (level == 2) contents = contents "<a class=\"part\" href=\"#" id "\">" plain(text) "</a>\n"
            anchor = " <a class=\"anchor\" href=\"#" id "\" aria-label=\"link to this place\">#</a>"
            $0 = "<h" level " id=\"" id "\">" text anchor "</h" level ">"
        }
        /^<!-- .* -->$/ { next }
        { gsub(/<table>/, "<div class=\"table\" tabindex=\"0\"><table>"); gsub(/<\/table>/, "</table></div>")
          gsub(/<pre>/, "<pre tabindex=\"0\">"); gsub(/<code>-/, "<code class=\"option\">-"); body = body $0 "\n" }
        END {
            menu = nav()
            while ((getline line < template) > 0) {
                if (line == "%%menu") printf "%s", menu
                else if (line == "%%body") printf "%s", body
                else if (line == "%%steps") print step(before, "before", "before") step(after, "after", "next")
                else { gsub(/%%title/, title, line); gsub(/%%version/, version, line); print line }
            }
        }' >"$work/$name.html"
done
cp "$work"/*.html "$source/docs/html/page.css" "$source/docs/notebook.ipynb" "$out"
echo "$(find "$work" -name '*.html' | wc -l) pages: $out/index.html"
