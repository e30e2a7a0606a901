#!/bin/sh
# keys.sh BINDIR SOURCE -- docs/keys.md, on standard output: what `homodyne config --keys` says about every key, beside
# what the Python packages do with it (tests/data/config/package-keys.txt).
set -eu
cat <<'PAGE'
# Every key of a configuration

Which key has which effect. The table is made from the program: `homodyne config --keys` prints the same, and
`homodyne config --keys TEXT` the keys that hold this text. [Coming from homodyne, heterodyne, xpcsjax](coming-from.md)
has the short version: the twenty keys that people edit.

**There** says which templates have the key: H homodyne 2.23, E heterodyne 2.0.1, X xpcsjax 0.1.8. A small letter means
that the key stands in the template and nothing in the package reads it. No letter: a key of this program, or one that
the packages read but do not show.

**Here:**

* **read**: it has its effect. A unit is that of a bare number; other units may be written after the number.
* **same as** another key: it is read, and means the same.
* **in part**: what it asks for is done in another way, or only in some cases.
* **no effect**: nothing here needs it. `homodyne validate` names such keys, and nobody has to remove them.
* **refused**: an error when it is `true`, because it would change the data.

An unknown key is an error, with its line and the nearest known name. Keys that begin with `x-` at the top level are
free for your own remarks. Keys of one section that have the same answer share a row; they begin with a dot. Where two spellings of one key have different values, the program stops and names both lines.
PAGE
{
    "$1/homodyne" config --keys
    echo "----"
    grep -v '^#' "$2/tests/data/config/package-keys.txt"
} | awk '
    # part(path): heading under which a key stands
    function part(path,    k) {
        for (k = 1; k <= nparts; k++)
            if (path == prefix[k] || index(path, prefix[k] ".") == 1) return k
        return nparts + 1
    }
    function declare(name, title) { prefix[++nparts] = name; heading[nparts] = title }
    function parent(path) { sub(/\.[^.]*$/, "", path); return path }
    function leaf(path) { sub(/.*\./, "", path); return path }
    function flush(    text) {
        if (!held) return
        if (held == 1) text = "`" held_path "`"
        else text = held_leaves
        printf "| %s | %s | **no effect**: %s |\n", text, held_there, held_about
        held = 0
    }
    BEGIN {
        declare("analysis_mode", "Model"); declare("experimental_data", "Data file"); declare("analyzer_parameters", "Frames, wavevector, gap")
        declare("phi_filtering", "Angles"); declare("initial_parameters", "Starting values"); declare("parameter_space", "Bounds and priors")
        declare("parameters", "Parameters as in heterodyne"); declare("optimization.method", "Method")
        declare("optimization.nlsq", "Least squares"); declare("optimization.cmc", "Sampling"); declare("optimization", "More of optimization")
        declare("output", "Output"); declare("compat", "Conventions of the packages"); declare("data", "Tables"); heading[nparts + 1] = "Everything else"
    }
    /^----$/ { packages = 1; next }
    packages { key = $1
        while (!(key in number) && key ~ /\./) key = parent(key)
        for (k = 1; k <= length($2); k++) {
            c = substr($2, k, 1)
            if (there[key] ~ toupper(c)) continue
            if (c == toupper(c)) { gsub(tolower(c), "", there[key]); there[key] = there[key] c }
            else if (there[key] !~ c) there[key] = there[key] c
        }
        next }
    /^[^ ]/ { path[++n] = $1; number[$1] = n; use[n] = $0; sub(/^[^ ]* \(/, "", use[n]); sub(/\)$/, "", use[n]); next }
    { sub(/^ */, ""); about[n] = about[n] (about[n] == "" ? "" : " ") $0 }
    function order(letters,    s) {
        if (letters ~ /[Hh]/) s = s (letters ~ /H/ ? "H" : "h")
        if (letters ~ /[Ee]/) s = s (letters ~ /E/ ? "E" : "e")
        if (letters ~ /[Xx]/) s = s (letters ~ /X/ ? "X" : "x")
        return s
    }
    END {
        for (p = 1; p <= nparts + 1; p++) {
            printf "\n## %s\n\n| key | there | here |\n|---|---|---|\n", heading[p]
            for (i = 1; i <= n; i++) {
                if (part(path[i]) != p) continue
                split(use[i], word, "; ")
                letters = order(there[path[i]])
                if (use[i] == "no effect") { # those of one section and one reason stand together
                    if (held && parent(path[i]) == parent(held_path) && about[i] == held_about && letters == held_there) {
                        held++; held_leaves = held_leaves ", `." leaf(path[i]) "`"
                    } else {
                        flush(); held = 1; held_path = path[i]; held_about = about[i]; held_there = letters
                        held_leaves = "`" path[i] "`"
                    }
                    continue
                }
                flush()
                more = ""
                for (k = 2; k in word; k++) more = more ", " (word[k] ~ /^--/ ? "`" word[k] "`" : word[k])
                what = word[1]
                if (what ~ /^same as /) { text = "**same as** `" substr(what, 9) "`" }
                else text = "**" what "**" more ": " about[i]
                printf "| `%s` | %s | %s |\n", path[i], letters, text
                delete word
            }
            flush()
        }
    }'
