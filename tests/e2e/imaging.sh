#!/bin/sh
# imaging.sh BINDIR -- homodyne-imaging: values of eht-imaging 1.4 from files, reconstructions of the standard problem,
# the same bits for any threads, runs that go on, messages.
. "$(dirname "$0")/../support/test.sh"
bin=$(cd "$here" && cd "$1" && pwd)
source=$(cd "$here/../.." && pwd)
data=$source/tests/data/imaging/gauss1600.h5
imaging=$bin/homodyne-imaging
V="--term vis=1 --regularizer simple=1,tv=1 --eps-tv 1e-10"
C="--term amp=100,cphase=100,logcamp=50 --regularizer simple=1,tv=10 --eps-tv 1e-10"
start="--image $data:/grid/prior --prior $data:/grid/prior"

# J of what was printed, between two numbers
J() {
    awk -v a="$1" -v b="$2" '$1 == "J" { found = 1; if (!($2 >= a && $2 <= b)) bad = $2 }
        END { exit !found || bad != "" }' out ||
        fail "J is not between $1 and $2: $(cat out)"
}

# the parts of J that were printed make it
parts() {
    awk 'NF == 4 && $1 != "term" { sum += $4; n++ } $1 == "J" && NF == 2 { J = $2; d = sum - J; d = d < 0 ? -d : d;
        told = n > 1 }
        END { exit !(told && d <= 1e-6 * J) }' out || fail "parts of J: $(cat out)"
}

# the start of the standard problem; run C there has visibilities that are rounding alone
expect 0 "$imaging" eval "$data" $start $V
J 183.7629096 183.7629097
parts
expect 0 "$imaging" eval "$data" $start $C
J 43416.5199 43416.5201
parts

# 200 iterations, after which it is not converged: exit code 2; the windows are those within which correct programs
# differ
expect "0|2" "$imaging" fit "$data" $start $V -o v.h5 --fits v.fits --truth "$data:/grid/truth"
J 0.4396 0.47
has out "maxiter: "
has out "200 iterations"
awk '/correlation/ { exit !($NF > 0.97) }' out || fail "correlation: $(cat out)"
expect "0|2" "$imaging" fit "$data" $start $C -o c.h5
J 0 20

# an image goes out and comes back, in both formats
grep ' J ' out >/dev/null
expect 0 "$imaging" eval "$data" --image v.h5 --prior "$data:/grid/prior" $V
J 0.4396 0.47
mv out h5.out
expect 0 "$imaging" eval "$data" --image v.h5 --prior v.h5:/prior $V # the prior that the fit was given
cmp -s out h5.out || fail "the prior of the result gives another J: $(cat out h5.out)"
expect 2 "$imaging" fit "$data" --npix 40 --fov 200 --fwhm 80 --flux 1 $V --maxiter 20 -o g.h5
grep '^  J ' out >wanted
for prior in "--prior g.h5:/prior" "--fwhm 80"; do
    expect 0 "$imaging" eval "$data" --image g.h5 $prior --flux 1 $V
    grep '^  J ' out | cmp -s - wanted || fail "$prior: another J: $(cat out wanted)"
done
expect 0 "$imaging" eval "$data" --image v.fits --prior "$data:/grid/prior" $V
J 0.4396 0.47

# converged: exit code 0
expect 0 "$imaging" fit "$data" $start $V --ftol 1e-3
has out "ftol: "

# numbers with units
golden=$source/tests/data/imaging/golden_eht.h5
for set in major=60uas,minor=45uas,PA=0.4 major=0.06mas,minor=2.1816615649929119e-10,PA=22.918311805232929deg; do
    expect 0 "$imaging" eval "$golden" --image "$golden:/grid/truth" --regularizer rgauss=1 --set $set
    grep '^  J ' out >>rgauss
done
[ "$(sort -u rgauss | wc -l)" = 1 ] || fail "units: $(cat rgauss)"

# pixels outside of a mask, as the reference fills them
python3 - "$golden" <<'PY' || failed=1
import sys
try:
    import h5py, numpy as np
except ImportError:
    sys.exit(print("no h5py: masks are not compared") or 0)
g = h5py.File(sys.argv[1])
mask = g["regularizers/mask_partial"][:].reshape(10, 12) != 0
with h5py.File("masked.h5", "w") as f:
    f["image"] = np.where(mask, g["grid/prior_normalised"][:].reshape(10, 12), 0)
    f["image"].attrs["psize"] = g["grid"].attrs["psize"]
PY
if [ -e masked.h5 ]; then
    expect 0 "$imaging" eval "$golden" --image "$golden:/grid/I_rand" --prior masked.h5 --regularizer tvlog=1 \
        --eps-tv 1e-4
    J 312.87366317 312.87366325
fi

# threads
for threads in 1 2 3; do
    expect 2 "$imaging" fit "$data" $start $V -o "t$threads.h5" --threads $threads --quiet --maxiter 20
    expect 0 "$imaging" eval "$data" --image "t$threads.h5" --prior "$data:/grid/prior" $V --threads $threads
    mv out "t$threads.out"
    cmp -s t1.out "t$threads.out" || fail "$threads threads give another image"
    cmp -s t1.h5 "t$threads.h5" || fail "$threads threads give another file"
done

# a run in two pieces
expect 2 "$imaging" fit "$data" $start $V -o whole.h5 --maxiter 60 --quiet
expect 2 "$imaging" fit "$data" $start $V --maxiter 25 --state s.bin --quiet
expect 2 "$imaging" fit "$data" $start $V -o pieces.h5 --maxiter 60 --state s.bin --quiet
cmp -s whole.h5 pieces.h5 || fail "a run in two pieces ends elsewhere"

# every optimizer that needs values and gradients alone
for name in lbfgsb lbfgs-zoom lbfgs-bt adam; do
    expect "0|2" "$imaging" fit "$data" $start $V --optimizer $name --maxiter 100 --truth "$data:/grid/truth"
    awk '/correlation/ { exit !($NF > 0.9) }' out || fail "$name: $(cat out)"
done

# a user's own that would never end, and holds back errors: stopped where it is
cat >endless.lua <<'E'
return function(value_gradient, x, options)
    local f, g = value_gradient(x)
    options.iteration(x, f, g)
    while true do pcall(function() while true do end end) end
end
E
cat >still.lua <<'E'
return { init = function(x) return 0 end, update = function(g, state, x, f) while true do end end }
E
for name in endless still; do
    expect 130 timeout --preserve-status -k 20 -s TERM 1 "$imaging" fit "$data" $start $V --optimizer $name.lua \
        -o $name.h5
    has out "user_stop: stopped from outside"
    [ -e $name.h5 ] || fail "$name: no image is written"
done

# the surveys of golden_eht.h5: 16 minima, which are unique
golden=$source/tests/data/imaging/golden_eht.h5
survey() {
    file=$1
    shift
    "$imaging" survey "$golden" --image "$golden:/grid/truth" --flux 2 --eps-tv 1e-6 --term vis=1 \
        --axis prior-fwhm=60,90 --axis sys-noise=0,0.02 --axis tv=1,10 --axis simple=1,5 -o "$file" "$@"
}
exact="--maxiter 20000 --ftol 1e-15 --gtol 1e-8"
expect 0 survey s.h5 $exact
expect 0 "$imaging" top s.h5 --threshold vis=10
has out "16 of 16 points are in the Top Set"
awk '$1 ~ /^[0-9]+$/ && NF == 7 { print $1, $7 }' out | sort -n >seen
cat >wanted <<'E'
0 1.67479
1 3.65593
2 9.42898
3 13.8118
4 1.43751
5 2.66426
6 9.01977
7 12.3882
8 0.886614
9 1.10082
10 7.6752
11 8.92929
12 0.718919
13 0.67775
14 7.34856
15 8.19707
E
cmp -s seen wanted || fail "other minima: $(diff seen wanted)"

# any number of threads, any parts, killed and gone on with: the same file
few="--maxiter 300 --ftol 1e-15 --gtol 1e-15"
expect 2 survey one.h5 $few --threads 1
for threads in 2 3; do
    expect 2 survey many.h5 $few --threads $threads
    cmp -s one.h5 many.h5 || fail "$threads threads make another survey"
    rm -r many.h5 many.h5.d
done
expect 0 survey parts.h5 $few --part 2/3
has out "11 of 16 points are missing"
[ ! -e parts.h5 ] || fail "a survey is written that is not complete"
expect 0 survey parts.h5 $few --part 1/3
expect 0 survey parts.h5 $few --part 3/3
cmp -s one.h5 parts.h5 || fail "parts make another survey"
# copies that a launcher starts have a part each; a fit is done once
for k in 2 0 1; do
    OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_RANK=$k expect 0 survey ranks.h5 $few
done
cmp -s one.h5 ranks.h5 || fail "ranks make another survey"
if command -v mpiexec >/dev/null; then
    export HWLOC_COMPONENTS=-gl,-opencl OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        OMPI_MCA_rmaps_base_oversubscribe=1
    rm -rf ranks.h5 ranks.h5.d
    mpiexec -n 3 "$imaging" survey "$golden" --image "$golden:/grid/truth" --flux 2 --eps-tv 1e-6 --term vis=1 \
        --axis prior-fwhm=60,90 --axis sys-noise=0,0.02 --axis tv=1,10 --axis simple=1,5 -o ranks.h5 $few \
        --threads 1 >out 2>err ||
        fail "mpiexec: exit code $?: $(cat err)"
    cmp -s one.h5 ranks.h5 || fail "ranks of mpiexec make another survey: $(cat out err)"
fi
OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_RANK=0 expect 3 "$imaging" fit "$golden" --npix 16 --fov 128 --term vis=1
says "has started several copies"
OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_RANK=1 expect 3 "$imaging" fit "$golden" --npix 16 --fov 128 --term vis=1
[ ! -s err ] || fail "copies are refused more than once: $(cat err)"
for k in 1 2 3; do
    timeout -s KILL 0.1 "$imaging" survey "$golden" --image "$golden:/grid/truth" --flux 2 --eps-tv 1e-6 --term vis=1 \
        --axis prior-fwhm=60,90 --axis sys-noise=0,0.02 --axis tv=1,10 --axis simple=1,5 \
        -o killed.h5 $few >/dev/null 2>&1 || true
done
for f in killed.h5.d/*.bin; do # a record that was cut
    [ ! -e "$f" ] || head -c 1000 "$f" >>"$f"
done
expect 2 survey killed.h5 $few
has out "16 points: prior-fwhm 2 x sys-noise 2 x tv 2 x simple 2; 0 converged"
has out "chi2 of vis: 0."
has out "written: killed.h5 (its points are kept in killed.h5.d"
cmp -s one.h5 killed.h5 || fail "a survey that was killed and gone on with is another one"

# an axis that changes: what is the same is not computed again
expect 2 "$imaging" survey "$golden" --image "$golden:/grid/truth" --flux 2 --eps-tv 1e-6 --term vis=1 \
    --axis prior-fwhm=60,90 --axis sys-noise=0,0.03 --axis tv=1,10 --axis simple=1,5 -o one.h5 $few
has out "8 of 16 points computed"
has out "8 were there"
expect 0 survey one.h5 $exact
has out "16 of 16 points computed"
expect 3 "$imaging" survey "$golden" --axis tvv=1 -o bad.h5 --npix 10 --fov 100
says "'tvv' is neither a term"
says "did you mean 'tv'?"
expect 3 "$imaging" survey "$golden" --axis prior-fwhm=60,0 -o bad.h5 --npix 10 --fov 100 --term vis=1
says "prior-fwhm: 0 is not above 0 uas"
expect 3 "$imaging" survey "$golden" --axis major=2e-10,-1 -o bad.h5 --npix 10 --fov 100 --term vis=1
has err "major: -1 is not above 0 rad"
expect 3 "$imaging" survey "$golden" --axis major=40uas,3s -o bad.h5 --npix 10 --fov 100 --term vis=1
has err "major: '3s' is another kind of unit; declared is rad"
expect 2 "$imaging" survey "$golden" --npix 10 --fov 100 --term vis=1 --regularizer rgauss=1 --fwhm 60 --flux 2 \
    --axis major=40uas,3.878509448876288e-10 --axis minor=40uas --maxiter 2 -o units.h5
python3 -c "import h5py" 2>/dev/null && ! python3 -c "
import h5py
major = h5py.File('units.h5')['grid/major'][:]
assert abs(major[1] / major[0] - 2) < 1e-9, major" && fail "values of an axis with and without units"
expect 3 "$imaging" survey "$golden" --axis channels=1,2 -o bad.h5 --npix 10 --fov 100 --term vis=1
has err "'channels' follows from the number of observations"
for set in "major=-60uas major: -60uas is not above 0 rad" "epsilon_tv=-1 epsilon_tv: -1 is not at least 0" \
    "flux=0 flux: 0 is not above 0" "norm_reg=2 norm_reg: 2 is not from 0 to 1" \
    "minor=inf minor: inf is not above 0 rad" \
    "log_transform=0 'log_transform' follows from --no-log"; do
    expect 3 "$imaging" eval "$golden" --image "$golden:/grid/truth" --fwhm 60 --term vis=1 --set "${set%% *}"
    has err "${set#* }"
done
expect 3 "$imaging" survey "$golden" --axis tv=1,-1 -o bad.h5 --npix 10 --fov 100 --term vis=1
says "tv: -1 is not at least 0"
expect 3 "$imaging" top s.h5 --threshold amp=2
says "the survey has no data term 'amp'"
expect 3 "$imaging" survey "$golden" --axis tv=1 --uncertainty laplace -o bad.h5 --npix 10 \
    --fov 100 # would change nothing
has err "--uncertainty: no option of \`survey\`; it belongs to \`fit\`"

# rounds: without a blur the same as a fit of the image before
expect 2 "$imaging" fit "$data" $start $C --maxiter 30 -o r1.h5
expect 2 "$imaging" fit "$data" --image r1.h5 --prior "$data:/grid/prior" $C --maxiter 30
grep '^  J ' out >once
expect 2 "$imaging" fit "$data" $start $C --maxiter 30 --rounds 2 --blur 0
grep '^  J ' out | cmp -s - once || fail "two rounds end at $(grep '^  J ' out), not $(cat once)"
expect 2 "$imaging" fit "$data" $start $C --maxiter 60 --rounds 3
J 0 40
expect 3 "$imaging" fit "$data" $start $C --rounds 2 --state s.bin
says "--state keeps one run, --rounds 2 makes several"

# what an interferometer would measure: of the truth J is that of the noise, by the seed alone
truth="--image $data:/grid/truth"
expect 0 "$imaging" simulate "$data" $truth --seed 3 -o sim.h5
has out "2592 visibilities, with noise"
expect 0 "$imaging" simulate "$data" $truth --seed 3 -o again.h5 --threads 2
cmp -s sim.h5 again.h5 || fail "the same seed gives other noise"
expect 0 "$imaging" eval sim.h5 $truth --term vis=1
J -0.1 0.1
expect 0 "$imaging" simulate "$data" $truth --cadence 240 --no-noise -o day.h5
has out "2592 visibilities, without noise"
expect 0 "$imaging" eval day.h5 $truth --term vis=1
J -1 -0.999999
expect 3 "$imaging" simulate "$data" -o bad.h5
says "simulate needs --image"

# uncertainties: of visibilities and squares those of the inverse matrix, written out; draws agree; least squares
small="--image $golden:/grid/truth --prior $golden:/grid/prior --flux 2 --no-log --term vis=338
    --regularizer tv2=30,patch=1000"
expect 0 "$imaging" fit "$golden" $small --maxiter 20000 --ftol 1e-15 --gtol 1e-7 --uncertainty laplace -o laplace.h5
has out "uncertainty (laplace)"
expect 0 "$imaging" fit "$golden" $small --optimizer nlsq -o nlsq.h5
has out "J                                          "
expect 0 "$imaging" fit "$golden" $small --maxiter 20000 --ftol 1e-15 --gtol 1e-7 --uncertainty nuts --draws 250 \
    --chains 2 \
    -o nuts.h5
python3 - "$golden" <<'PY' || failed=1
import sys
try:
    import h5py, numpy as np
except ImportError:
    sys.exit(print("no h5py: standard deviations are not compared"))
G = h5py.File(sys.argv[1])
u, v, s = (G["dataterms/vis/" + k][:].reshape(-1) for k in ("u", "v", "sigma"))
p, nx, ny = G["grid"].attrs["psize"], 12, 10
c, r = np.arange(120) % 12, np.arange(120) // 12
X, Y = ((nx - 1) / 2 - c) * p, ((ny - 1) / 2 - r) * p
A = (np.sinc(p * u) ** 2 * np.sinc(p * v) ** 2)[:, None] * np.exp(2j * np.pi * (u[:, None] * X + v[:, None] * Y))
D = np.zeros((240, 120))
for k in range(120):
    D[k, k] -= 1
    D[120 + k, k] -= 1
    if r[k] < ny - 1:
        D[k, k + 12] += 1
    if c[k] < nx - 1:
        D[120 + k, k + 1] += 1
H = ((A.conj() / s[:, None] ** 2).T @ A).real + 60 * D.T @ D + 1000 * np.eye(120)
sd = np.sqrt(np.diag(np.linalg.inv(H))).reshape(10, 12)
laplace, nuts, least = (h5py.File(f + ".h5") for f in ("laplace", "nuts", "nlsq"))
worst = abs(laplace["sd"][:] / sd - 1).max()
assert worst < 1e-9, f"laplace: {worst}"
off = abs(least["image"][:] - laplace["image"][:]).max() / sd.min()
assert off < 1e-4, f"nlsq: {off} standard deviations"
# 500 draws, of which a hundred or more are independent: five standard errors of a mean and of a deviation
ratio = nuts["sd"][:] / sd
off = abs(nuts["mean"][:] - laplace["image"][:]) / sd
assert off.max() < 0.5 and abs(np.median(ratio) - 1) < 0.05, (off.max(), ratio)
assert 0.65 < ratio.min() and ratio.max() < 1.35, (off.max(), ratio)
PY
expect 2 "$imaging" fit "$golden" $small --maxiter 3 --uncertainty laplace
has err "standard deviations away: iterate further"
expect 4 "$imaging" fit "$golden" --image "$golden:/grid/prior" --prior "$golden:/grid/prior" --flux 2 --term amp=338 \
    --regularizer simple=0.001 --maxiter 1 --uncertainty laplace -o early.h5 --quiet
says "the image is not a minimum"
[ -e early.h5 ] || fail "an image without uncertainties is not written"
expect 3 "$imaging" fit "$data" $start $V --optimizer nlsq
says "'simple' is none"

# pages
if [ -x "$bin/homodyne-report" ]; then
    expect 0 "$bin/homodyne-report" report s.h5 --threshold vis=10
    has s.html "Survey of images"
    has s.html "<b>16 of 16</b> points"
    expect 0 "$bin/homodyne-report" report laplace.h5 -o l.html
    has l.html "standard deviation of I"
    expect 3 "$bin/homodyne-report" report s.h5 --threshold amp=2 -o none.html
    says "the survey has no data term 'amp'"
    if [ -x "$bin/homodyne" ]; then # finds out by itself what the file is
        expect 0 "$bin/homodyne" report s.h5 --threshold vis=10 -o front.html
        cmp -s s.html front.html || fail "homodyne report makes another page"
        expect 3 "$bin/homodyne" report "$data" --threshold vis=10 -o none.html
        says "--threshold belongs to surveys of images"
        expect 3 "$bin/homodyne" plot s.h5 -o none
        says "holds images; their page is made by"
    fi
    for f in s.html l.html; do
        python3 -c "import sys, xml.dom.minidom as m; m.parse(sys.argv[1])" $f || fail "$f is no well-formed XML"
        python3 - $f <<'PY' || fail "$f: text is cut off"
import sys, xml.dom.minidom as m
for svg in m.parse(sys.argv[1]).getElementsByTagName("svg"):
    width = float(svg.getAttribute("width"))
    for text in svg.getElementsByTagName("text"):
        of = {"middle": 0.5, "end": 1}.get(text.getAttribute("text-anchor"), 0)
        long = 0.62 * float(text.getAttribute("font-size")) * len(text.firstChild.data)
        x = float(text.getAttribute("x") or "nan") - of * long
        assert text.getAttribute("transform") or (x > -2 and x + long < width + 2), (text.toxml(), width)
PY
    done
fi

# the objective: slopes beside dual numbers, its page
expect 0 "$bin/homodyne-gen" "$source/models/imaging/imaging.lua" --check
has out "slopes and"
has out "agree with dual numbers"
cat >nowhere.lua <<'E'
local m = objective "nowhere" { title = "A value that is never finite" }
local pixel = m.axis("pixel")
local x = m.free("x", pixel)
m.term("bad", { kind = "data", value = m.sum(log(-exp(x))) })
E
expect 0 "$bin/homodyne-gen" nowhere.lua --check
has err "is not finite at any of 24 random points"
expect 0 "$bin/homodyne-gen" "$source/models/imaging/imaging.lua" --emit=html,latex -o page
has page/imaging.html "uncorrelated closure phases"
expect 3 "$bin/homodyne-gen" "$source/models/imaging/imaging.lua" --emit=json
says "there are --check and --emit=c,gpu,html,latex for it"

# what cannot be
wrong() {
    code=$1 text=$2
    shift 2
    expect "$code" "$imaging" "$@"
    says "$text"
    [ ! -e bad.h5 ] || fail "a file was written"
}
wrong 3 "there is no optimizer" fit "$data" $start $V --optimizer lbgfs -o bad.h5
wrong 3 "has no term 'viz'; did you mean 'vis'?" eval "$data" $start --term viz=1 -o bad.h5
wrong 3 "'tv' is a regularizer; it stands behind --regularizer" eval "$data" $start --term tv=1 -o bad.h5
wrong 3 "no term of imaging has a weight" eval "$data" $start -o bad.h5
wrong 3 "has no term 'tvlg'; did you mean 'tvlog'?" eval "$data" $start --regularizer tvlg=1 -o bad.h5
wrong 3 "has no hyper-parameter 'majr'; did you mean 'major'?" eval "$data" $start $V --set majr=1 -o bad.h5
wrong 3 "PA: '3m' is another kind of unit; declared is rad" eval "$data" $start $V --set PA=3m -o bad.h5
wrong 3 "--eps-tv: -1 is below 0" eval "$data" $start --term vis=1 --eps-tv -1 -o bad.h5
wrong 3 "--flux: 0 is not above 0" eval "$data" $start $V --flux 0 -o bad.h5
wrong 3 "--term: 'vis' is given twice" eval "$data" $start $V --term vis=2 -o bad.h5
wrong 3 "--regularizer: -0.5 is below 0" eval "$data" $start --regularizer tv=-0.5 -o bad.h5
wrong 3 "the data have no 'prior'; --prior IMAGE, or --fwhm UAS for a Gaussian" eval "$data" \
    --image "$data:/grid/prior" --regularizer simple=1 -o bad.h5
wrong 3 "--flux: 'much' is not a number" eval "$data" $start $V --flux much -o bad.h5
wrong 3 "did you mean --regularizer" eval "$data" $start --regularise tv=1 -o bad.h5
wrong 3 "eval needs --image" eval "$data" $V -o bad.h5
wrong 3 "no image: --image FILE, or --npix N --fov UAS" fit "$data" $V -o bad.h5
wrong 4 "no_such.h5" eval no_such.h5 $start $V -o bad.h5
wrong 3 "no command 'evaluate'; there are eval, fit, survey, top, simulate, info" evaluate "$data"
expect 0 "$imaging" info "$data"
has out "2592 visibilities, 2592 measured; 8 stations"
has out "cphase         1627 rows"
expect 0 "$imaging" --help
has out "--regularizer"
finish
