#!/bin/sh
# The source archive of what is committed, its list of parts and its checksums, into FOLDER: dist.sh FOLDER
#   homodyne-gen-VERSION.tar.gz     the same bytes wherever and whenever it is made of one commit
#   homodyne-gen-VERSION.spdx.json  the program and the libraries it is linked with (SPDX 2.3), versions of this machine
#   SHA256SUMS
# Needs git; what is changed and not committed is refused.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
[ $# -eq 1 ] || { echo "usage: dist.sh FOLDER" >&2; exit 3; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$root"
git rev-parse --git-dir >/dev/null 2>&1 || { echo "dist: $root is no checkout of git" >&2; exit 3; }
[ -z "$(git status --porcelain --untracked-files=no)" ] ||
    { echo "dist: there are changes that are not committed" >&2; exit 3; }
version=$(sed -n 's/^project(homodyne-gen VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
[ -n "$version" ] || { echo "dist: CMakeLists.txt does not tell the version" >&2; exit 1; }
name=homodyne-gen-$version
made=$(TZ=UTC git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd)

git archive --format=tar --prefix="$name/" HEAD >"$out/$name.tar"
gzip -n -9 -f "$out/$name.tar"
sum=$(sha256sum "$out/$name.tar.gz" | cut -d ' ' -f 1)

# part NAME LICENCE URL PKG-CONFIG-NAME...: a package of the list, and that homodyne-gen depends on it
parts='' relations=''
part() {
    part=$1 licence=$2 url=$3 found=NOASSERTION
    shift 3
    for probe; do
        ! found=$(pkg-config --modversion "$probe" 2>/dev/null) || break
        found=NOASSERTION
    done
    if [ "$found" = NOASSERTION ]; then given=; else given="\"versionInfo\": \"$found\", "; fi
    parts="$parts,
    {\"SPDXID\": \"SPDXRef-$part\", \"name\": \"$part\", $given\"downloadLocation\": \"$url\", \"filesAnalyzed\": false,
     \"licenseConcluded\": \"$licence\", \"licenseDeclared\": \"$licence\", \"copyrightText\": \"NOASSERTION\"}"
    relations="$relations,
    {\"spdxElementId\": \"SPDXRef-homodyne-gen\", \"relationshipType\": \"DEPENDS_ON\",
     \"relatedSpdxElement\": \"SPDXRef-$part\"}"
}
part Lua MIT https://www.lua.org lua5.4 lua-5.4 lua54 lua
part libyaml MIT https://pyyaml.org/wiki/LibYAML yaml-0.1
part HDF5 BSD-3-Clause https://www.hdfgroup.org/solutions/hdf5 hdf5-serial hdf5
part zlib Zlib https://zlib.net zlib
part Zstandard BSD-3-Clause https://facebook.github.io/zstd libzstd
part cairo LGPL-2.1-only https://www.cairographics.org cairo-pdf
part libmicrohttpd LGPL-2.1-or-later https://www.gnu.org/software/libmicrohttpd libmicrohttpd

cat >"$out/$name.spdx.json" <<END
{
  "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": "$name",
  "documentNamespace": "https://spdx.org/spdxdocs/$name-$sum",
  "creationInfo": {"created": "$made", "creators": ["Tool: homodyne-gen build-aux/dist.sh"]},
  "packages": [
    {"SPDXID": "SPDXRef-homodyne-gen", "name": "homodyne-gen", "versionInfo": "$version",
     "downloadLocation": "NOASSERTION", "packageFileName": "$name.tar.gz", 
     "checksums": [{"algorithm": "SHA256", "checksumValue": "$sum"}], "filesAnalyzed": false,
     "licenseConcluded": "BSD-3-Clause", "licenseDeclared": "BSD-3-Clause", "copyrightText": "NOASSERTION"}$parts
  ],
  "relationships": [
    {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
     "relatedSpdxElement": "SPDXRef-homodyne-gen"}$relations
  ]
}
END
(cd "$out" && sha256sum "$name.tar.gz" "$name.spdx.json" >SHA256SUMS)
echo "$out/$name.tar.gz"
