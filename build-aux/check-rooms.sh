#!/bin/sh
# check-rooms.sh [SOURCE_DIR]          the rules of the house, proved by looking at the sources: the order of rooms that
#                                      rooms.txt tells, the sizes of folders, who knows which library, who prints
# check-rooms.sh --table [SOURCE_DIR]  the table of rooms for docs/code.md
# Prints each offence and exits with 1 when there is one.
set -eu
table=
[ "${1:-}" != --table ] || { table=1 && shift; }
cd "${1:-.}"
MOST=45 # C files of a folder
LONGEST=60 # lines of a function
LONG=40     # lines that most functions stay below
MANY=20     # functions of the programs that do not; fewer is better

if [ "$table" ]; then
    awk 'BEGIN { print "| room | what it is for |\n|---|---|" }
         /^[a-z]/ { room = $1; sub(/:$/, "", room); sub(/^[^:]*: /, "")
                    printf "| `%s/` | %s |\n", room, $0 }' build-aux/rooms.txt
    exit
fi

bad=$(mktemp)
trap 'rm -f "$bad"' EXIT

# ---- includes: every one names its room, which stands below
find common runtime generator api frontend report -name '*.[ch]' -o -name '*.def' | sort |
    awk '
    function offence(text) { printf "%s:%d: %s\n", file, line, text }
    function folder(path) { sub(/\/[^\/]*$/, "", path); return path }
    function room_of(name,   top, way, n, k) { # the file that an include means; "": none of ours
        top = file; sub(/\/.*/, "", top)
        n = split((top == "generator" ? "generator/" : "") " runtime/ runtime/include/", way, " ")
        for (k = 1; k <= n; k++)
            if ((way[k] name) in is_file) return folder(way[k] name)
        return name in is_file ? folder(name) : ""
    }
    function rooms(   l, w, n, k, room) {
        while ((getline l < "build-aux/rooms.txt") > 0) {
            if (l ~ /^[a-z]/) { room = l; sub(/:.*/, "", room); known[room] = 1 }
            n = split(l, w, " ")
            for (k = 2; l ~ /^ +includes / && k <= n; k++) {
                if (!(w[k] in known)) printf "build-aux/rooms.txt: %s stands above %s\n", room, w[k]
                may[room, w[k]] = 1
            }
            for (k = 2; l ~ /^ +shows / && k <= n; k++) { modest[room] = 1; shown[w[k]] = 1 }
            for (k = 2; l ~ /^ +library / && k <= n; k++) { library[w[k]] = 1; may[room, w[k]] = 1 }
        }
    }
    BEGIN { rooms() }
    { list[++files] = $0; is_file[$0] = 1; own = folder($0); used[own] = 1 }
    END {
        for (room in known) if (!(room in used)) printf "build-aux/rooms.txt: no file is in %s\n", room
        for (f = 1; f <= files; f++) {
            file = list[f]; own = folder(file)
            if (!(own in known)) { line = 1; offence(own " is no room of build-aux/rooms.txt"); continue }
            for (line = 1; (getline text < file) > 0; line++) {
                if (text !~ /^[ \t]*#[ \t]*include[ \t]*[<"]/) continue
                quoted = text ~ /include[ \t]*"/
                name = text; sub(/^[^<"]*[<"]/, "", name); sub(/[">].*/, "", name)
                if (!quoted) {
                    if (name in library && !((own, name) in may)) offence(own " may not know <" name ">")
                    if (name ~ /cblas|lapacke|openblas/) offence("BLAS and LAPACK: their bits depend on the machine")
                } else if (name !~ /\//) offence("\"" name "\" does not name its room")
                else if ((room = room_of(name)) == "") offence("there is no \"" name "\"")
                else if (room != own && !((own, room) in may)) offence(own " may not include " room)
                else if (room != own && room in modest && !(name in shown)) offence(room " does not show \"" name "\"")
            }
            close(file)
        }
    }' >>"$bad"

# ---- sizes
find common runtime generator api frontend report tests bench -name '*.[ch]' | sed 's|/[^/]*$||' | sort | uniq -c |
    awk -v most="$MOST" '$1 > most { printf "%s: %d C files; a folder holds at most %d\n", $2, $1, most }' >>"$bad"

# A function begins with the line of its name and ends with the brace at the left margin.
functions() {
    find "$@" -name '*.[ch]' | sort | xargs awk '
        FNR == 1 { start = head = 0 }
        /^[A-Za-z_].*:$/ { next }
        /^[A-Za-z_]/ { head = FNR; name = $0 }
        /(^\{|\) \{)$/ && !start && head && FNR - head < 8 && name ~ /\(/ && name !~ / = / {
            start = head; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)
        }
        /^\}$/ && start { printf "%d %s:%d: %s\n", FNR - start + 1, FILENAME, start, name; start = head = 0 }'
}
programs="common runtime generator api frontend report"
# shellcheck disable=SC2086
functions $programs tests/unit tests/property tests/e2e tests/api tests/study bench |
    awk -v most="$LONGEST" '$1 > most { print $2, $3, "has", $1, "lines; a function has at most", most }' >>"$bad"
# shellcheck disable=SC2086
functions $programs |
    awk -v long="$LONG" -v many="$MANY" '$1 > long { n++; all = all "\n    " $2 " " $3 " " $1 }
        END { if (n > many) printf "%d functions have more than %d lines, %d may:%s\n", n, long, many, all }' >>"$bad"
# Characters, not bytes: the bytes that go on with a character of UTF-8 are not counted.  templates/page.css is in the
# pages of tests/golden.
written="$programs tests bench build-aux docs examples models python templates CMakeLists.txt Makefile"
# shellcheck disable=SC2046,SC2086
find $(for f in $written; do [ ! -e $f ] || echo $f; done) -path tests/golden -prune -o -path templates/page.css -o \
    -type f \( -name '*.[ch]' -o -name '*.py' -o -name '*.js' -o -name '*.css' -o -name '*.html' -o -name '*.lua' -o \
    -name '*.sh' -o -name '*.cmake' -o -name CMakeLists.txt -o -name Makefile \) -print |
    sort | LC_ALL=C xargs awk '{ s = $0; gsub(/[\200-\277]/, "", s) }
        length(s) > 120 { printf "%s:%d: %d columns; a line has at most 120\n", FILENAME, FNR, length(s) }' >>"$bad"

# ---- only RULE PATTERN DIR ALLOWED...: lines matching PATTERN below DIR may stand in the ALLOWED files only
# Lines that are only a comment do not count.
only() {
    rule=$1 pattern=$2 dir=$3
    shift 3
    find "$dir" -name '*.[ch]' | sort | xargs grep -nHE "$pattern" /dev/null |
        grep -vE '^[^:]*:[0-9]+:[[:space:]]*(/\*|\*|//)' |
        while IFS= read -r line; do
            for a in "$@"; do
                # shellcheck disable=SC2254  # ALLOWED holds patterns
                case ${line%%:*} in $a) continue 2 ;; esac
            done
            echo "$line   <- $rule"
        done >>"$bad"
}
main="runtime/commands/main.c runtime/imaging/main.c runtime/arrays/main.c"
only "only main.c prints" "(^|[^a-zA-Z0-9_>.])(printf|puts|perror|putchar)[[:space:]]*\(" runtime $main
only "only main.c knows stdout and stderr" "(^|[^a-zA-Z0-9_\"])(stdout|stderr)([^a-zA-Z0-9_\"]|$)" runtime $main \
    runtime/base/status.h
only "only main.c exits" "(^|[^a-zA-Z0-9_])(exit|_exit|abort)[[:space:]]*\(" runtime $main
only "what emitted kernels include knows the C library and fit/ only" \
    "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]([^fms]|f[^il]|fl[^o]|m[^a]|s[^t])" runtime/include

# ---- nothing lies about: what a test or a run has left is no part of the source
if [ -e .git ]; then
    git ls-files | grep -v / |
        grep -vxE '\.clang-format|\.clang-tidy|\.gitignore|[A-Z]+\.md|CITATION\.cff|LICENSE|Makefile' |
        grep -vxE 'CMake(Lists\.txt|Presets\.json)' |
        sed 's/$/: does not belong at the top of the source/' >>"$bad"
fi

# ---- docs/code.md shows these rooms
"$0" --table . >"$bad.table"
awk '/^\| room \|/ { inside = 1 } inside && !/^\|/ { exit } inside' docs/code.md | cmp -s - "$bad.table" ||
    echo "docs/code.md: the table of rooms is not that of build-aux/check-rooms.sh --table" >>"$bad"
rm -f "$bad.table"

if [ -s "$bad" ]; then
    cat "$bad"
    exit 1
fi
