#!/bin/sh
# Tries the Debian package in a bare Debian: test-deb.sh PACKAGE.deb [ROOT]
# Makes a minimal system in ROOT (a temporary folder, removed afterwards, when not given) with debootstrap, installs the package there
# with what it depends on, fits the bundled experiment as an ordinary user, compiles a model, removes the package
# and looks for files that were left.  Needs root, debootstrap and a mirror.
set -eu
package=$1
root=${2:-}
suite=${SUITE:-bookworm}
mirror=${MIRROR:-http://deb.debian.org/debian}
[ "$(id -u)" -eq 0 ] || { echo "test-deb: needs root" >&2; exit 1; }
if [ -z "$root" ]; then
    root=$(mktemp -d)
    trap 'rm -rf "$root"' EXIT
fi
[ -x "$root/bin/sh" ] || debootstrap --variant=minbase "$suite" "$root" "$mirror" >/dev/null
cp "$package" "$root/tmp/package.deb"

# shellcheck disable=SC2016  # for the shell inside
chroot "$root" /bin/sh -euc '
export DEBIAN_FRONTEND=noninteractive
list() { find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /home -o -path /var/cache \
    -o -path /var/lib/apt -o -path /var/lib/dpkg -o -path /var/log \) -prune -o -print | sort; }
apt-get update -qq
apt-get install -y -qq --no-install-recommends libcairo2 libhdf5-103-1 libhdf5-hl-100 liblapacke liblua5.4-0 libopenblas0 \
    libyaml-0-2 >/dev/null 2>&1 # so that the list below holds only what the package brings
id tester >/dev/null 2>&1 || useradd -m tester
list >/tmp/before
apt-get install -y -qq --no-install-recommends /tmp/package.deb >/dev/null
list >/tmp/with
cat >/tmp/try.sh <<"END"
set -eu
cd
homodyne --version
homodyne demo demo | tail -9
homodyne config --mode laminar_flow --data /usr/share/homodyne-gen/examples/laminar/experiment.h5 --gap "200 um" -o my.yaml
homodyne validate my.yaml
homodyne fit my.yaml -o mine --quiet
homodyne compare demo mine
cp /usr/share/homodyne-gen/models/kww.lua own.lua
command -v cc >/dev/null || { ! homodyne info --model own.lua 2>err && grep "needs a C compiler" err; }
END
su tester -c "sh /tmp/try.sh"
apt-get remove -y -qq homodyne-gen >/dev/null
list >/tmp/after
echo "$(comm -13 /tmp/before /tmp/with | wc -l) files and folders installed"
left=$(comm -13 /tmp/before /tmp/after)
[ -z "$left" ] || { echo "left behind:"; echo "$left"; exit 1; }
echo "nothing left behind"
apt-get install -y -qq --no-install-recommends gcc libc6-dev /tmp/package.deb >/dev/null 2>&1
su tester -c "cd && homodyne info --model own.lua | head -3"
apt-get remove -y -qq homodyne-gen gcc libc6-dev >/dev/null
userdel -r tester 2>/dev/null
'
