#!/bin/bash
# wheel.sh FOLDER [x86_64|aarch64]: makes the binary wheel of homodyne-gen for Linux with glibc 2.28 or later in FOLDER.
#
# Programs, library and models are compiled by zig (from PyPI, in an environment of its own), which knows the symbols of
# every glibc; HDF5, Lua, libyaml, zlib and libmicrohttpd are compiled from Debian's sources and linked into them, HDF5
# without drivers for the network, libmicrohttpd without TLS.  Kernels for aarch64 are those of NEON.  For another
# processor qemu-user runs what the build itself runs, and models are compiled by FIT_GENERATOR (by default that of this
# machine's wheel, which is made first).  Needs a Debian with network, dpkg-dev, cmake, ninja, gcc, and advancecomp,
# which compresses better.  Everything lies in FOLDER/work and is used again; about 8 minutes on two cores at first.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
here=$(uname -m)
arch=${2:-$here}
case $arch in x86_64 | aarch64) ;; *) echo "wheel: $arch: x86_64 or aarch64 would be right" >&2; exit 3 ;; esac
mkdir -p "$1/work/$arch"
out=$(cd "$1" && pwd) work=$(cd "$1/work" && pwd)
own=$work/$arch jobs=$(nproc)
export WHEEL_TARGET=$arch-linux-gnu.2.28 WHEEL_PYTHON=$work/python/bin/python
prefix=$own/prefix
host=() cross=()
if [ "$arch" != "$here" ]; then # the models are compiled by the compiler of this machine
    generator=${FIT_GENERATOR:-$work/$here/build/bin/homodyne-gen}
    [ -x "$generator" ] || "$0" "$out" "$here"
    [ -e "/proc/sys/fs/binfmt_misc/qemu-$arch" ] && [ -d "/usr/$arch-linux-gnu/lib" ] || {
        echo "wheel: programs of $arch cannot run (Debian: qemu-user-binfmt libc6-arm64-cross)" >&2
        exit 3
    }
    export QEMU_LD_PREFIX=/usr/$arch-linux-gnu
    host=(--build="$arch-linux-gnu" --host="$arch-linux-gnu") # they run: nothing is guessed
    cross=(-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$arch" -DCMAKE_CROSSCOMPILING_EMULATOR=/usr/bin/env
        -DFIT_GENERATOR="$generator")
fi
flags="-O2 -fPIC -ffunction-sections -fdata-sections -DNDEBUG -g0"
small="-Os -fno-asynchronous-unwind-tables -fno-unwind-tables ${flags#-O2}" # every program has them inside

say() { printf '== %s\n' "$*"; }
trap 'echo "wheel: failed; see the newest of $own/*.log" >&2' ERR

if ! "$WHEEL_PYTHON" -c "import ziglang, auditwheel" 2>/dev/null; then
    say "zig, auditwheel"
    python3 -m venv "$work/python"
    "$WHEEL_PYTHON" -m pip install --quiet ziglang==0.17.1 auditwheel
fi
tools=$own/tools
mkdir -p "$tools" "$prefix/lib/pkgconfig" "$prefix/include"
cp "$source/build-aux/wheel/cc" "$tools/cc"
for tool in ar ranlib; do
    printf '#!/bin/sh\nexec "%s" -m ziglang %s "$@"\n' "$WHEEL_PYTHON" "$tool" >"$tools/$tool"
done
chmod +x "$tools"/*
export CC=$tools/cc AR=$tools/ar RANLIB=$tools/ranlib

# ---- sources, with Debian's patches
fetch() { # PACKAGE [OPTION of dpkg-source]: unpacked in $own/PACKAGE
    [ ! -d "$own/$1" ] || return 0
    say "source of $1"
    local sources=$work/sources.list
    . /etc/os-release
    echo "deb-src http://deb.debian.org/debian $VERSION_CODENAME main" >"$sources"
    local options=(-o Dir::Etc::sourcelist="$sources" -o Dir::Etc::sourceparts=- -o APT::Get::List-Cleanup=0)
    mkdir -p "$work/deb"
    [ -n "$(ls "$work/deb/$1"_*.dsc 2>/dev/null)" ] || (cd "$work/deb" && apt-get -qq "${options[@]}" update &&
        apt-get -qq "${options[@]}" source --download-only "$1" 2>/dev/null)
    dpkg-source --no-check ${2:-} -x "$work/deb/$1"_*.dsc "$own/$1.part" >/dev/null 2>&1
    mv "$own/$1.part" "$own/$1"
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
cmake_tools=("${cross[@]}" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER="$CC" -DCMAKE_AR="$AR"
    -DCMAKE_RANLIB="$RANLIB")

if [ ! -e "$prefix/lib/libz.a" ]; then
    fetch zlib
    say zlib
    (cd "$own/zlib" && CFLAGS=$flags ./configure --static --prefix="$prefix" && make -j"$jobs" libz.a &&
        cp libz.a "$prefix/lib" && cp zlib.h zconf.h "$prefix/include") >"$own/zlib.log" 2>&1
fi
if [ ! -e "$prefix/lib/libyaml.a" ]; then
    fetch libyaml
    say libyaml
    (cmake -S "$own/libyaml" -B "$own/libyaml/b" "${cmake_tools[@]}" -DCMAKE_C_FLAGS="$small" -DBUILD_TESTING=OFF \
        -DCMAKE_INSTALL_PREFIX="$prefix" && ninja -C "$own/libyaml/b" install) >"$own/libyaml.log" 2>&1
    pc yaml-0.1 0.2.5 -lyaml
fi
if [ ! -e "$prefix/lib/liblua.a" ]; then
    fetch lua5.4 --skip-patches # they need a file that the package's build makes
    say lua
    (cd "$own/lua5.4/src" && rm -f ./*.o && for f in l*.c; do
        case $f in lua.c | luac.c) ;; *) "$CC" $flags -DLUA_USE_POSIX -c "$f" ;; esac
    done && "$AR" rcs "$prefix/lib/liblua.a" ./*.o && cp lua.h luaconf.h lualib.h lauxlib.h "$prefix/include") \
        >"$own/lua.log" 2>&1
    pc lua5.4 5.4.4 "-llua -lm"
fi
if [ ! -e "$prefix/lib/libmicrohttpd.a" ]; then # homodyne view
    fetch libmicrohttpd
    say libmicrohttpd
    (cd "$own/libmicrohttpd" && CFLAGS="$small -w" ./configure "${host[@]}" --prefix="$prefix" --disable-shared \
        --enable-static --disable-https --disable-doc --disable-examples --disable-tools --disable-curl &&
        make -j"$jobs" -C src/microhttpd libmicrohttpd.la && cp src/microhttpd/.libs/libmicrohttpd.a "$prefix/lib" &&
        cp src/include/microhttpd.h "$prefix/include") >"$own/libmicrohttpd.log" 2>&1
    version=$(sed -n 's/^PACKAGE_VERSION=.\(.*\).$/\1/p' "$own/libmicrohttpd/configure")
    pc libmicrohttpd "$version" "-lmicrohttpd -lpthread"
fi
if [ ! -e "$prefix/lib/libhdf5_hl.a" ]; then
    fetch hdf5
    say hdf5
    mkdir -p "$own/hdf5/b"
    # errors keep their words, and lose the names of files and functions of the library
    sed -i 's/NULL, __FILE__, FUNC, __LINE__, H5E_ERR_CLS_g/NULL, "", "", 0U, H5E_ERR_CLS_g/' \
        "$own/hdf5/src/H5Eprivate.h"
    (cd "$own/hdf5/b" && CFLAGS="$small -w -Wno-implicit-int" \
        ../configure "${host[@]}" --prefix="$prefix" --disable-shared --enable-static \
        --enable-hl --disable-cxx --disable-fortran --disable-tests --disable-tools --with-zlib="$prefix" \
        --without-szlib \
        --disable-ros3-vfd --disable-direct-vfd --enable-build-mode=production &&
        make -j"$jobs" -C src install && make -j"$jobs" -C hl/src install) >"$own/hdf5.log" 2>&1
    pc hdf5-serial 1.10.8 "-lhdf5 -lz -lm -ldl"
fi

# ---- the project
say "homodyne-gen"
export PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig
[ -e "$own/build/build.ninja" ] || cmake -S "$source" -B "$own/build" "${cmake_tools[@]}" \
    -DFIT_MPI= -DFIT_TESTS=OFF -DFIT_LOADED_FITTERS=ON -DCMAKE_C_FLAGS="-ffunction-sections -fdata-sections -g0" \
    -DCMAKE_EXE_LINKER_FLAGS="-Wl,--gc-sections -s" \
    -DCMAKE_SHARED_LINKER_FLAGS="-Wl,--gc-sections -s" -DCMAKE_MODULE_LINKER_FLAGS="-s" \
    -DFIT_HDF5_HL="$prefix/lib/libhdf5_hl.a" -DZLIB_INCLUDE_DIR="$prefix/include" -DZLIB_LIBRARY="$prefix/lib/libz.a" \
    >"$own/configure.log" 2>&1
ninja -C "$own/build" -j"$jobs" >"$own/build.log" 2>&1 || { grep -m5 "error:" "$own/build.log"; exit 1; }
rm -rf "$own/root"
cmake --install "$own/build" --prefix "$own/root" >"$own/install.log"
mkdir "$own/root/notices" # of the libraries inside
cp "$source/NOTICE.md" "$own/root/notices"
for text in hdf5/COPYING libyaml/License zlib/LICENSE lua5.4/debian/copyright libmicrohttpd/COPYING; do
    cp "$own/$text" "$own/root/notices/${text%%/*}.txt"
done

say "wheel"
wheel=$("$WHEEL_PYTHON" "$source/python/wheel_backend.py" "$out" "$own/root" "$arch")
if command -v advzip >/dev/null; then
    advzip --recompress --shrink-insane --quiet "$wheel"
else
    echo "advzip would make it smaller by 4 % (Debian: advancecomp)"
fi
echo "$wheel: $(stat -c %s "$wheel") bytes"
"$WHEEL_PYTHON" -m auditwheel show "$out"/homodyne_gen-*-manylinux*_"$arch".whl
