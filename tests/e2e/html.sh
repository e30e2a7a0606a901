#!/bin/sh
# html.sh CMARK SOURCE -- the pages of the documentation as HTML: every page is made and is in the navigation, links and
# anchors lead somewhere, nothing is loaded from elsewhere, fenced code and tables are in boxes that scroll.
set -eu
cmark=$1 source=$(cd "$2" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0
fail() {
    echo "html: $*"
    bad=1
}
"$source/build-aux/docs.sh" "$cmark" "$source" "$dir" 1.2.3 || exit 1
cd "$dir"
for page in "$source"/docs/*.md; do
    html=$(basename "$page" .md).html
    [ -s "$html" ] || fail "no $html"
done
links=0
for html in *.html; do
    for text in '<title>..* - homodyne-gen</title>' 'aria-current="page"' '</html>' '<h1 id="' '1\.2\.3'; do
        grep -q "$text" "$html" || fail "$html has no $text"
    done
    ! grep -nE '%%|(src|href)="(https?:)?//[^"]*\.(css|js)|<script|href="[^"]*\.md' "$html" || fail "$html"
    ! grep -n '<table>' "$html" | grep -v 'class="table"' || fail "$html: a table that does not scroll"
    for link in $(grep -oE '(href|src)="[^"]*"' "$html" | sed -E 's/^[a-z]+="//; s/"$//' |
        grep -vE '^(https?|mailto):'); do
        links=$((links + 1))
        file=${link%%#*}
        [ -n "$file" ] || file=$html
        [ -e "$file" ] || fail "$html: no file $link"
        case $link in
        *#*) grep -q "id=\"${link#*#}\"" "$file" || fail "$html: no place $link" ;;
        esac
    done
done
if command -v xmllint >/dev/null; then
    xmllint --html --noout --nonet ./*.html 2>&1 | grep -E 'error' |
        grep -vE 'Tag (nav|main|header|details|summary|small) invalid' >said || true
    [ ! -s said ] || fail "$(head -5 said)"
fi
echo "html: $links links"
exit $bad
