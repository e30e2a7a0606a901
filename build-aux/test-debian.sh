#!/bin/sh
# Tries the first screen of README.md in a bare Debian: test-debian.sh [12|13] [ROOT] Makes a minimal system in ROOT
# (a temporary folder, removed afterwards, when not given; one that is there is used again) with debootstrap; installs
# git, make and certificates; clones what is committed here and, as README.md says, runs `make demo` and `make test`.
# Prints the versions, how each command ended and its last lines; all lines are in ROOT/root/make-*.log. The exit
# status is 1 when a command failed.  Needs root, debootstrap and a mirror; an hour or two on two processors.
#
# SUITE, MIRROR     another release, another mirror (also of Ubuntu)
# TARGETS=demo      not both commands          JOBS=1      compilations at once
# CTEST='ctest -L unit'                        some of the tests only, as in the Makefile
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
case ${1:-13} in
12) suite=bookworm ;;
13) suite=trixie ;;
*) echo "usage: test-debian.sh [12|13] [ROOT]" >&2; exit 3 ;;
esac
suite=${SUITE:-$suite}
mirror=${MIRROR:-http://deb.debian.org/debian}
root=${2:-}
[ "$(id -u)" -eq 0 ] || { echo "test-debian: needs root" >&2; exit 3; }
command -v debootstrap >/dev/null || { echo "test-debian: needs debootstrap" >&2; exit 3; }

mounted=
temporary=
leave() {
    for m in $mounted; do umount -R -l "$m" || return; done
    [ -z "$temporary" ] || rm -rf --one-file-system "$temporary"
}
trap leave EXIT
trap 'exit 130' INT TERM HUP
if [ -z "$root" ]; then
    root=$(mktemp -d)
    temporary=$root
    chmod 755 "$root"
fi
[ -x "$root/usr/bin/apt-get" ] || debootstrap --variant=minbase "$suite" "$root" "$mirror" >/dev/null
for m in proc sys dev; do # what a system that runs has: tests read /proc/self, write to /dev/full
    mountpoint -q "$root/$m" && continue
    mount --rbind --make-rslave "/$m" "$root/$m"
    mounted="$mounted $root/$m"
done
cp -L /etc/resolv.conf "$root/etc/resolv.conf"

inside() {
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        JOBS="${JOBS:-$(nproc)}" ${CTEST:+CTEST="$CTEST"} chroot "$root" /bin/sh -euc "$1"
}
inside 'apt-get update -qq; apt-get install -y -qq --no-install-recommends git make ca-certificates >/dev/null 2>&1'
git -C "$here" bundle create -q "$root/root/homodyne-gen.bundle" HEAD
inside 'cd; rm -rf homodyne-gen; git clone -q homodyne-gen.bundle homodyne-gen'

status=0
for target in ${TARGETS:-demo test}; do
    if inside "cd /root/homodyne-gen; make $target >../make-$target.log 2>&1"; then
        echo "== make $target: passes"
    else
        echo "== make $target: FAILS"
        status=1
    fi
    grep -E 'warning:' "$root/root/make-$target.log" | sort | uniq -c | head -n 20 || :
    tail -n 12 "$root/root/make-$target.log"
done
inside '. /etc/os-release; echo "$PRETTY_NAME, $(cc --version | head -n 1), $(dpkg-query -W libhdf5-dev)"'
exit $status
