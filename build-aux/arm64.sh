#!/bin/bash
# arm64.sh FOLDER [TEST...]: builds for aarch64 with Debian's cross compiler and runs tests in qemu-user; all of them,
# or those that match the regular expressions.
#
# The libraries are those of Debian's arm64, unpacked in FOLDER/root: nothing of this system is changed.  Tests start
# programs, which the kernel has to hand to qemu (binfmt_misc).  Vectors of SVE have FIT_SVE_BYTES bytes: 32 (the
# default) and 64 are those with kernels of their own, 16 leaves NEON.  Models are compiled by the homodyne-gen of this
# machine, and e2e-architectures compares with its programs.  CMAKE_C_COMPILER_LAUNCHER=ccache makes later builds cheap.
#     FIT_LEVELS=base       kernels of fewer instruction sets: a third of the time to build
#     FIT_TARGETS="a b"     these targets only        EXCEPT=REGEX      without these tests
#     FIT_EXPERIMENTS=60    simulated experiments of a study, at most (default: 6, fewer than judge the statistics,
#                           which do not depend on the processor)
# Without what it needs it says so and ends with 77.
set -euo pipefail
source=$(cd "$(dirname "$0")/.." && pwd)
target=aarch64-linux-gnu
mkdir -p "$1"
work=$(cd "$1" && pwd)
shift
skip() {
    echo "arm64: left out: $*"
    exit 77
}
[ "$(uname -m)" = x86_64 ] || skip "this machine is no x86-64"
command -v "$target-gcc" >/dev/null || skip "no $target-gcc (Debian: gcc-aarch64-linux-gnu libc6-dev-arm64-cross)"
command -v apt-get >/dev/null || skip "no apt-get, which brings the libraries"
[ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ] ||
    skip "programs of aarch64 cannot be started (Debian: qemu-user-static binfmt-support)"

root=$work/root
if [ ! -e "$root/done" ]; then
    echo "arm64: libraries"
    mkdir -p "$work"/apt/{lists/partial,archives/partial} "$root"
    . /etc/os-release
    echo "deb [arch=arm64] http://deb.debian.org/debian $VERSION_CODENAME main" >"$work/apt/sources.list"
    : >"$work/apt/status"
    options=(-qq -o Dir::State="$work/apt" -o Dir::State::status="$work/apt/status" -o Dir::Cache="$work/apt"
        -o Dir::Etc::sourcelist="$work/apt/sources.list" -o Dir::Etc::sourceparts=- -o Dir::Etc::main=-
        -o Dir::Etc::parts=- -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o Debug::NoLocking=1)
    apt-get "${options[@]}" update
    apt-get "${options[@]}" install -y --no-install-recommends --download-only libc6-dev libgcc-12-dev libhdf5-dev \
        liblua5.4-dev libyaml-dev zlib1g-dev libzstd-dev libcairo2-dev libmicrohttpd-dev libcmocka-dev \
        python3-numpy python3-h5py libopenmpi-dev libmpich-dev >/dev/null
    for package in "$work"/apt/archives/*.deb; do dpkg-deb -x "$package" "$root"; done
    ln -sf blas/libblas.so.3 lapack/liblapack.so.3 "$root/usr/lib/$target" # as their packages' scripts would
    touch "$root/done"
fi

# compilers for aarch64, of models of tests and of plugins for MPI; its programs are started by this machine's mpiexec
mkdir -p "$work/tools"
tool() { # NAME WORDS: what follows $target-gcc
    printf '#!/bin/sh\nexec %s --sysroot="%s" "$@" %s\n' "$target-gcc" "$root" "$2" >"$work/tools/$1"
    chmod +x "$work/tools/$1"
}
tool cc ""
mpis=()
for mpi in openmpi:ompi-c mpich:mpich; do
    flags=$(PKG_CONFIG_LIBDIR=$root/usr/lib/$target/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root \
        pkg-config --cflags --libs "${mpi#*:}" 2>/dev/null) || continue
    tool "mpicc.${mpi%:*}" "$flags"
    mpis+=("-DFIT_MPICC_${mpi%:*}=$work/tools/mpicc.${mpi%:*}")
done

cat >"$work/toolchain.cmake" <<TOOLCHAIN
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER $target-gcc)
set(CMAKE_SYSROOT "$root")
set(CMAKE_FIND_ROOT_PATH "$root")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR /usr/bin/env)
# here, for ninja runs cmake again without the variables of this script
set(ENV{PKG_CONFIG_LIBDIR} "$root/usr/lib/$target/pkgconfig:$root/usr/share/pkgconfig")
set(ENV{PKG_CONFIG_SYSROOT_DIR} "$root")
TOOLCHAIN
export QEMU_LD_PREFIX=$root QEMU_CPU=max,sve-default-vector-length=${FIT_SVE_BYTES:-32} FIT_SLOW=25

generator=${FIT_GENERATOR:-$source/build/bin/homodyne-gen}
[ -x "$generator" ] || skip "no $generator (make)"
cmake -S "$source" -B "$work/build" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$work/toolchain.cmake" -DCMAKE_BUILD_TYPE=Release \
    "${mpis[@]}" -DFIT_GENERATOR="$generator" -DFIT_PATIENCE=25 -DFIT_EXPERIMENTS="${FIT_EXPERIMENTS:-6}" \
    ${FIT_LEVELS:+-DFIT_ISA_LEVELS="$FIT_LEVELS"} \
    >"$work/configure.log" || { tail -20 "$work/configure.log"; exit 1; }
# shellcheck disable=SC2086  # a list
cmake --build "$work/build" --parallel "${JOBS:-$(nproc)}" ${FIT_TARGETS:+--target $FIT_TARGETS}
export CC=$work/tools/cc PATH=$work/tools:$PATH
# the library is loaded by a Python of aarch64
printf '#!/bin/sh\nPYTHONHOME="%s/usr" exec "%s/usr/bin/python3" "$@"\n' "$root" "$root" >"$work/python3"
chmod +x "$work/python3"
export PYTHON=$work/python3 FIT_PYTHON=$work/python3
cd "$work/build"
ctest --output-on-failure ${EXCEPT:+-E "$EXCEPT"} ${1:+-R "$(IFS='|'; echo "$*")"}
