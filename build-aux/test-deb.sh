#!/bin/sh
# Tries the Debian package in a bare Debian: test-deb.sh PACKAGE.deb [ROOT]
# Makes a minimal system in ROOT (a temporary folder, removed afterwards, when not given) with debootstrap, installs the
# package there with what it depends on; as an ordinary user fits the bundled experiment, makes its report and figures,
# uses the Python package, compiles a model; removes the package and looks for files that were left.  Needs root,
# debootstrap and a mirror.
set -eu
package=$1
root=${2:-}
suite=${SUITE:-bookworm}
mirror=${MIRROR:-http://deb.debian.org/debian}
[ "$(id -u)" -eq 0 ] || { echo "test-deb: needs root" >&2; exit 1; }
if [ -z "$root" ]; then
    root=$(mktemp -d)
    chmod 755 "$root" # for the ordinary user inside
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
# so that the list below holds only what the package brings
apt-get install -y -qq --no-install-recommends libcairo2 libhdf5-103-1 libhdf5-hl-100 liblua5.4-0 \
    libyaml-0-2 python3-numpy fonts-dejavu-core >/dev/null 2>&1
id tester >/dev/null 2>&1 || useradd -m tester
list >/tmp/before
apt-get install -y -qq --no-install-recommends /tmp/package.deb >/dev/null
list >/tmp/with
cat >/tmp/try.sh <<"END"
set -eu
cd
homodyne --version
homodyne demo demo | tail -9
homodyne config --mode laminar_flow --data /usr/share/homodyne-gen/examples/laminar/experiment.h5 \
    --gap "200 um" -o my.yaml
homodyne validate my.yaml
homodyne fit my.yaml -o mine --quiet
homodyne compare demo mine
homodyne report mine
grep -q "</html>" mine/report.html
homodyne plot mine --format png -o png
homodyne plot my.yaml --format pdf -o pdf
[ "$(ls png | wc -l)" -gt 10 ] && [ "$(ls pdf | wc -l)" -eq 10 ]
homodyne fit my.yaml --method nuts --draws 100 --warmup 100 -o drawn --quiet || [ $? -eq 2 ]
[ -s drawn/posterior.nc ]
for page in homodyne homodyne-fit homodyne-gen; do
    [ -s /usr/share/man/man1/$page.1.gz ] || [ -s /usr/share/man/man1/$page.1 ]
done
cat >try.py <<"PY"
import numpy as np
import homodyne_gen as hg
m = hg.load_model("kww")
x = np.logspace(-3, 1, 80)
y = m.mean({"tau": 0.5, "beta": 0.7, "contrast": 0.2, "baseline": 1}, delay=x) + 1e-3 * np.sin(7.0 * np.arange(80))
r = m.fit(y, sigma=1e-3, delay=x)
print("Python:", hg.__version__, hg._library.loaded()._name, r.params["tau"])
assert r.converged and abs(r.params["tau"] - 0.5) < 0.05
assert m.sample(y, sigma=1e-3, delay=x, draws=100, chains=2)["tau"].shape == (2, 100)
PY
PYTHONDONTWRITEBYTECODE=1 python3 try.py
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
su tester -c "cd && PYTHONDONTWRITEBYTECODE=1 python3 -c \"import homodyne_gen as hg; \
print(hg.load_model(\\\"own.lua\\\").name)\""
apt-get remove -y -qq homodyne-gen gcc libc6-dev >/dev/null
userdel -r tester 2>/dev/null
'
