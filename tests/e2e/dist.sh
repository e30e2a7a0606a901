#!/bin/sh
# The source archive: same bytes twice, its list of parts is JSON, its checksums hold: dist.sh BINDIR SOURCE
set -eu
source=$(cd "$2" && pwd)
. "$(dirname "$0")/../support/test.sh"
command -v git >/dev/null 2>&1 || { echo "SKIPPED: no git"; exit 77; }
git -C "$source" rev-parse --git-dir >/dev/null 2>&1 || { echo "SKIPPED: $source is no checkout"; exit 77; }
# a clone: what is changed and not committed here does not matter
git -c safe.directory='*' clone -q --depth 1 "file://$source" clone 2>/dev/null ||
    { echo "SKIPPED: no clone of $source"; exit 77; }
for k in 1 2; do
    expect 0 clone/build-aux/dist.sh out$k
done
archive=$(basename "$(ls out1/*.tar.gz)")
cmp -s "out1/$archive" "out2/$archive" || fail "two archives of one commit differ"
(cd out1 && sha256sum -c --quiet SHA256SUMS) || fail "the checksums do not hold"
tar -xzf "out1/$archive"
[ -f "${archive%.tar.gz}/CMakeLists.txt" ] || fail "the archive has no sources"
version=${archive%.tar.gz}
grep -q "set version = \"${version#homodyne-gen-}\"" "${archive%.tar.gz}/build-aux/conda/meta.yaml" ||
    fail "the recipe for conda has another version than $archive"
sum=$(sha256sum "out1/$archive" | cut -d ' ' -f 1)
grep -q "$sum" out1/*.spdx.json || fail "the list of parts does not tell the archive's checksum"
if command -v python3 >/dev/null 2>&1; then
    python3 - out1/*.spdx.json <<'END' || fail "the list of parts"
import json, sys
s = json.load(open(sys.argv[1]))
names = [p["name"] for p in s["packages"]]
assert s["spdxVersion"] == "SPDX-2.3" and names[0] == "homodyne-gen"
assert {"Lua", "HDF5", "libyaml", "zlib"} <= set(names)
ids = {p["SPDXID"] for p in s["packages"]} | {"SPDXRef-DOCUMENT"}
assert len(ids) == len(s["packages"]) + 1
assert all(r["spdxElementId"] in ids and r["relatedSpdxElement"] in ids for r in s["relationships"])
END
fi
echo >>clone/README.md
expect 3 clone/build-aux/dist.sh out3
says "not committed"
finish
