#!/bin/sh
# Texts and names of a model stay where they belong: the configuration written with any text has the same keys and
# values as with a plain one, control characters and bytes that are no UTF-8 are refused with their line, what a model
# prints or fails with does not act on the terminal, and every macro of the C headers is a possible name: texts.sh
# BINDIR
set -eu
bin=$1
. "$(dirname "$0")/../support/test.sh"
esc=$(printf '\033')

# model WHERE TEXT: a table model with this Lua text in one of its places
model() {
    title='"plain"' formula='"plain"' reference='"plain"' validity='"plain"' doc='"plain"' column='"plain"' \
        setting='"plain"'
    alias='"plain"'
    for place in title formula reference validity doc column setting; do
        [ "$1" != all ] && [ "$1" != $place ] || eval "$place=\$2"
    done
    [ "$1" != alias ] || alias=$2
    cat >m.lua <<END
local m = model "m" { title = $title, formula = $formula, reference = $reference, validity = $validity, alias = $alias }
local x, y = m.columns({ "x", unit = "s", doc = $column }, "y")
local k = m.setting("scale", "1", $setting)
local rate = m.parameter("rate", { unit = "1/s", start = 1, bounds = {0, 9}, doc = $doc })
m.observe(y, { mean = k * exp(-rate * x) })
END
}
compiles() {
    ! command -v cc >/dev/null || cc -std=gnu11 -I "$here/../../runtime/include" -include complex.h -include limits.h \
        -include inttypes.h -include float.h -include errno.h -include stdio.h -fsyntax-only -DFIT_KERNEL_ISA='"base"' \
        -DFIT_KERNEL_SYMBOL=k m.c
}
bare() { sed -e '/^#/d' -e '/^ *#/d' -e 's/ *# .*//' m.yaml; } # without comments

model title '"plain"'
expect 0 "$bin/homodyne-gen" m.lua --emit=yaml
bare >plain.yaml
[ -s plain.yaml ] || fail "no configuration"
for text in '"a\noptimization: {method: nuts}\n  rate: {value: 7}"' '"a\n\n\nanalysis_mode: evil"' '[[
analyzer_parameters: {dt: 3}
]]' '"\ttab: {a: b} # c \" \\ %s"' '"---\n...\n%YAML 1.1"' '"caf\u{e9} \u{3c3} [x]: |"' '"\n"' '"\\"' \
    '"*\\\n/ int owned;"'; do
    model all "$text"
    expect 0 "$bin/homodyne-gen" m.lua --emit=c,yaml,json,html,latex
    bare >got.yaml
    cmp -s got.yaml plain.yaml || {
        fail "$text changes the configuration"
        diff got.yaml plain.yaml || :
    }
    compiles || fail "$text: the kernel does not compile"
    if command -v python3 >/dev/null; then
        python3 -c 'import json, sys; json.load(open("m.json", encoding="utf-8"))' || fail "$text: m.json"
    fi
done
for where in title formula reference validity doc column setting alias; do
    # what is refused is refused at its line, and shown without effect
    for text in '"\27[2J"' '"a\rb: 1"' '"\7"' '"\xff"' '"\xc3("' '"\u{85}b: 1"' '"\u{2028}b: 1"' '"\u{202e}x"' '"\0"' \
        '"\127"' \
        '"\xed\xa0\x80"'; do
        model $where "$text"
        expect 3 "$bin/homodyne-gen" m.lua --emit=c,yaml,json,html,latex
        grep -qE '^m.lua:[1-4]: error: ' err || fail "$where = $text: no place"
        if grep -q "$esc" err; then fail "$where = $text: an escape sequence is printed"; fi
    done
done
model alias '{ "no", "b: {c: d}" }'
expect 0 "$bin/homodyne-gen" m.lua --emit=yaml
has m.yaml 'analysis_mode: "no"'

# names that a reader of YAML 1.1 takes for a truth value or nothing
sed 's/"rate"/"no"/; s/"scale"/"off"/; s/"x"/"y"/; s/m.columns({ "y"/m.columns({ "n"/' m.lua >n.lua
cp n.lua m.lua
expect 0 "$bin/homodyne-gen" m.lua --emit=yaml
for key in no off n y; do has m.yaml "\"$key\":"; done

# what a model says while it is read
for line in 'error("\27]0;owned\7\27[2J")' 'print("\27[2J\r\u{9b}2J")' 'm.parameter("\27[2J", {})' \
    'local z = unit "\27[2J"' \
    'm["\27[2J"]()' 'm.parameter("a", { ["\27[2J"] = 1 })' '-- \27'; do
    { model title '"plain"' && sed "2i\\
$(printf '%s' "$line" | sed 's/\\/\\\\/g')" m.lua; } >loud.lua
    "$bin/homodyne-gen" loud.lua --check >out 2>err </dev/null || :
    for f in out err; do if grep -q "$esc" $f || grep -q "$(printf '\302\233')" $f;
    then fail "$line acts on a terminal"; fi; done
done
printf 'local a = "x%s[2J" +\n' "$esc" >raw.lua # the line of the source itself is shown
expect 3 "$bin/homodyne-gen" raw.lua
if grep -q "$esc" err; then fail "a line of the source acts on the terminal"; fi
printf 'analysis_mode: kww\n"a%s\\e[2Jb": 1\n' x >keys.yaml
"$bin/homodyne" validate keys.yaml >out 2>err || :
if grep -q "$esc" out err; then fail "a key of a configuration acts on the terminal"; fi
"$bin/homodyne" fit --model kww --data "$(printf 'no\033[2J.csv')" >out 2>err || :
if grep -q "$esc" out err; then fail "the name of a file acts on the terminal"; fi

# nothing that cannot be written passes for written
for command in --words --help --version "m.lua --explain" "m.lua --check"; do
    code=0
    # shellcheck disable=SC2086  # words
    "$bin/homodyne-gen" $command >/dev/full 2>err || code=$?
    [ $code -eq 4 ] || fail "homodyne-gen $command >/dev/full: exit code $code"
done
mkdir -p full && : >full/m.c && chmod 500 full
expect 4 "$bin/homodyne-gen" m.lua -o /proc

# names: macros that an emitted kernel may see, as parameters; of the many in limits.h and inttypes.h every ninth
if command -v cc >/dev/null; then
    macros() { cc -std=gnu11 -dM -E -include "$@" -x c /dev/null | awk '$2 ~ /^[A-Za-z][A-Za-z0-9_]*$/ { print $2 }'; }
    { macros math.h && macros complex.h && macros errno.h | awk '$1 !~ /^E/' &&
        macros limits.h -include inttypes.h -include float.h -include stdio.h | sort | awk 'NR % 9 == 0'; } | sort -u |
        grep -vE '^(NULL|NAN|INFINITY|HUGE_VAL)$' >names # these are refused
    [ "$(wc -l <names)" -gt 50 ] || fail "only $(wc -l <names) macros were found"
    for part in 0 1 2 3; do
        {
            echo 'local m = model "m" { title = "macros" }'
            echo 'local x, y = m.columns("x:s", "y")'
            echo 'local s = 0'
            awk -v part=$part 'NR % 4 == part {
                printf "s = s + sin(m.parameter(\"%s\", { start = 1, bounds = {0, 2} }) * x * %d / second)\n",
                $1, NR }' names
            echo 'm.observe(y, { mean = s })'
        } >m.lua
        expect 0 "$bin/homodyne-gen" m.lua
        compiles 2>cc.err || {
            fail "a kernel with names of macros does not compile"
            head -n 5 cc.err
        }
    done
fi
finish
