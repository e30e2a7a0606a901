#!/bin/sh
# Results of every earlier version are read: tests/data/formats/VERSION holds what that version wrote of data.h5
# (result: a fit with its posterior; series: a table with one fit).  The functions of the C library that programs were
# linked with are there: formats.sh BINDIR DATADIR [libhomodyne-gen.so]
set -eu
bin=$1 data=$(cd "$2" && pwd) library=${3:-}
. "$(dirname "$0")/../support/test.sh"
h=$bin/homodyne versions=0

for version in "$data"/*/; do
    versions=$((versions + 1))
    rm -rf now
    cp -r "$version" now
    chmod -R u+w now
    cd now
    expect 0 "$h" compare result result
    has out "AGREE"
    expect 0 "$h" compare result result --json
    has out '"D0"'
    expect 0 "$h" report result -o page.html --quiet
    has page.html "posterior"
    expect 0 "$h" plot result -o figures --quiet
    [ "$(find figures -name '*.svg' | wc -l)" -ge 3 ] || fail "$version: $(find figures -name '*.svg' | wc -l) figures"
    # the present program, same data and configuration
    expect 0 "$h" fit my.yaml --fix D_offset=100 -o fresh --quiet
    expect 0 "$h" compare series/data fresh --sigma 0.01
    # its configuration with the origin of every value is a configuration; the data lay in another folder then
    sed "s|file_path: \".*/data.h5\"|file_path: \"$PWD/data.h5\"|" result/config.effective.yaml >moved.yaml
    mv moved.yaml result/config.effective.yaml
    expect 0 "$h" validate result/config.effective.yaml
    # a table that goes on
    cp data.h5 other.h5
    expect 0 "$h" batch my.yaml other.h5 --fix D_offset=100 -o series --quiet
    [ "$(wc -l <series/series.csv)" -eq 3 ] ||
        fail "$version: the table has lost the earlier fit: $(cat series/series.csv)"
    cd ..
done
[ $versions -ge 1 ] || fail "no results of earlier versions in $data"

if [ -n "$library" ] && command -v nm >/dev/null 2>&1; then
    nm -D --defined-only "$library" | awk '$2 == "T" { print $3 }' | sort >there
    for list in "$data"/api-*.txt; do
        number=${list##*-}
        ls -l "$library" | grep -q "so" || fail "$library is no library"
        readelf -d "$library" | grep -q "SONAME.*\.so\.${number%.txt}]" || continue # an interface of another number
        comm -23 "$list" there >gone
        [ ! -s gone ] ||
            fail "functions of interface ${number%.txt} are gone: $(cat gone);" \
                "give it the next number (FIT_API_VERSION)"
        comm -13 "$list" there >new
        [ ! -s new ] || fail "new functions are not listed in $list: $(cat new)"
    done
fi
finish
