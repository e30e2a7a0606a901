#!/bin/bash
# wheel.sh FOLDER: makes the binary wheel of homodyne-gen for Linux with glibc 2.28 or later, x86-64, in FOLDER.
#
# Programs, library and models are compiled by zig (from PyPI, in an environment of its own), which knows the symbols of
# every glibc; HDF5, Lua, libyaml and zlib are compiled from Debian's sources and linked into them, HDF5 without drivers
# for the network.  Needs a Debian with network, dpkg-dev, cmake, ninja, gcc.  Everything lies in FOLDER/work and is
# used again; about 7 minutes on two cores at first.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1/work"
out=$(cd "$1" && pwd) work=$(cd "$1/work" && pwd)
jobs=$(nproc)
export WHEEL_TARGET=x86_64-linux-gnu.2.28 WHEEL_PYTHON=$work/python/bin/python
prefix=$work/prefix
flags="-O2 -fPIC -ffunction-sections -fdata-sections -DNDEBUG -g0"

say() { printf '== %s\n' "$*"; }
trap 'echo "wheel: failed; see the newest of $work/*.log" >&2' ERR

if [ ! -x "$WHEEL_PYTHON" ]; then
    say "zig, auditwheel"
    python3 -m venv "$work/python"
    "$WHEEL_PYTHON" -m pip install --quiet ziglang==0.17.1 auditwheel
fi
mkdir -p "$work/tools" "$prefix/lib/pkgconfig" "$prefix/include"
cp "$source/build-aux/wheel/cc" "$work/tools/cc"
for tool in ar ranlib; do
    printf '#!/bin/sh\nexec "%s" -m ziglang %s "$@"\n' "$WHEEL_PYTHON" "$tool" >"$work/tools/$tool"
done
chmod +x "$work/tools"/*
export CC=$work/tools/cc AR=$work/tools/ar RANLIB=$work/tools/ranlib

# ---- sources, with Debian's patches
fetch() { # PACKAGE [OPTION of dpkg-source]: unpacked in $work/PACKAGE
    [ ! -d "$work/$1" ] || return 0
    say "source of $1"
    local sources=$work/sources.list
    . /etc/os-release
    echo "deb-src http://deb.debian.org/debian $VERSION_CODENAME main" >"$sources"
    local options=(-o Dir::Etc::sourcelist="$sources" -o Dir::Etc::sourceparts=- -o APT::Get::List-Cleanup=0)
    mkdir -p "$work/deb"
    (cd "$work/deb" && apt-get -qq "${options[@]}" update &&
        apt-get -qq "${options[@]}" source --download-only "$1" 2>/dev/null)
    dpkg-source --no-check ${2:-} -x "$work/deb/$1"_*.dsc "$work/$1.part" >/dev/null 2>&1
    mv "$work/$1.part" "$work/$1"
}
pc() { # NAME VERSION LIBS
    cat >"$prefix/lib/pkgconfig/$1.pc" <<PC
Name: $1
Description: $1
Version: $2
Libs: -L$prefix/lib $3
Cflags: -I$prefix/include
PC
}
cmake_tools=(-G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER="$CC" -DCMAKE_AR="$AR" -DCMAKE_RANLIB="$RANLIB")

if [ ! -e "$prefix/lib/libz.a" ]; then
    fetch zlib
    say zlib
    (cd "$work/zlib" && CFLAGS=$flags ./configure --static --prefix="$prefix" && make -j"$jobs" libz.a &&
        cp libz.a "$prefix/lib" && cp zlib.h zconf.h "$prefix/include") >"$work/zlib.log" 2>&1
fi
if [ ! -e "$prefix/lib/libyaml.a" ]; then
    fetch libyaml
    say libyaml
    (cmake -S "$work/libyaml" -B "$work/libyaml/b" "${cmake_tools[@]}" -DCMAKE_C_FLAGS="$flags" -DBUILD_TESTING=OFF \
        -DCMAKE_INSTALL_PREFIX="$prefix" && ninja -C "$work/libyaml/b" install) >"$work/libyaml.log" 2>&1
    pc yaml-0.1 0.2.5 -lyaml
fi
if [ ! -e "$prefix/lib/liblua.a" ]; then
    fetch lua5.4 --skip-patches # they need a file that the package's build makes
    say lua
    (cd "$work/lua5.4/src" && rm -f ./*.o && for f in l*.c; do
        case $f in lua.c | luac.c) ;; *) "$CC" $flags -DLUA_USE_POSIX -c "$f" ;; esac
    done && "$AR" rcs "$prefix/lib/liblua.a" ./*.o && cp lua.h luaconf.h lualib.h lauxlib.h "$prefix/include") \
        >"$work/lua.log" 2>&1
    pc lua5.4 5.4.4 "-llua -lm"
fi
if [ ! -e "$prefix/lib/libhdf5_hl.a" ]; then
    fetch hdf5
    say hdf5
    mkdir -p "$work/hdf5/b"
    (cd "$work/hdf5/b" && CFLAGS="$flags -w -Wno-implicit-int" ../configure --prefix="$prefix" --disable-shared --enable-static \
        --enable-hl --disable-cxx --disable-fortran --disable-tests --disable-tools --with-zlib="$prefix" --without-szlib \
        --disable-ros3-vfd --disable-direct-vfd --enable-build-mode=production &&
        make -j"$jobs" -C src install && make -j"$jobs" -C hl/src install) >"$work/hdf5.log" 2>&1
    pc hdf5-serial 1.10.8 "-lhdf5 -lz -lm -ldl"
fi

# ---- the project
say "homodyne-gen"
export PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig
[ -e "$work/build/build.ninja" ] || cmake -S "$source" -B "$work/build" "${cmake_tools[@]}" \
    -DFIT_TESTS=OFF -DFIT_LOADED_FITTERS=ON -DCMAKE_C_FLAGS="-ffunction-sections -fdata-sections -g0" -DCMAKE_EXE_LINKER_FLAGS="-Wl,--gc-sections -s" \
    -DCMAKE_SHARED_LINKER_FLAGS="-Wl,--gc-sections -s" -DCMAKE_MODULE_LINKER_FLAGS="-s" \
    -DFIT_HDF5_HL="$prefix/lib/libhdf5_hl.a" -DZLIB_INCLUDE_DIR="$prefix/include" -DZLIB_LIBRARY="$prefix/lib/libz.a" \
    >"$work/configure.log" 2>&1
ninja -C "$work/build" -j"$jobs" >"$work/build.log" 2>&1 || { grep -m5 "error:" "$work/build.log"; exit 1; }
rm -rf "$work/root"
cmake --install "$work/build" --prefix "$work/root" >"$work/install.log"

say "wheel"
"$WHEEL_PYTHON" "$source/python/wheel_backend.py" "$out" "$work/root"
"$WHEEL_PYTHON" -m auditwheel show "$out"/homodyne_gen-*-manylinux*_x86_64.whl
