#!/bin/sh
# Where the programs write, and what they run: nothing that stands in a configuration or in a data file makes them write
# elsewhere than into the output folder that the user named, or compile or run what the user did not name.
#     places.sh BINDIR
#
# Absolute paths and ".." may stand in the keys that name data (file_path and its other names, data_folder_path and
# data_file_name, sigma), which are read only, and in those of the output folder (output_dir, base_directory, directory
# and their other names), which an -o on the command line overrules.
set -u
bin=$(cd "$1" && pwd)
. "$(dirname "$0")/../support/test.sh"
h=$bin/homodyne
mkdir home cache work work/sub
export HOME="$dir/home" XDG_CACHE_HOME="$dir/cache"
cd work || exit 1

"$bin/homodyne-static_isotropic" simulate --frames 20 --dt 0.1 --q 0.01 --phi 0 --noise 0.01 --seed 3 -o e.h5 \
    --config-out plain.yaml >/dev/null || exit 1

# all_files: but what the tests' own functions write
all_files() {
    find "$dir" ! -name out ! -name err ! -path "$dir/allowed*" ! -path "$dir/*/allowed*" | sort
}

# nowhere COMMAND...: it may write below `allowed` only
nowhere() {
    all_files >"$dir/before"
    mv "$dir/before" before
    expect "$@"
    all_files >after
    grep -vxF -f before after | grep -vx "$dir/work/\(before\|after\)" >new
    [ ! -s new ] || fail "$2 $3: $(head -n 3 new) is not below the output folder"
    rm -f before after new
}

# ---- every key that looks like a place, with places that are none of the output folder's
cat >away.yaml <<END
config_version: "../../away"
metadata: {name: "../../away", path: "$dir/away"}
analysis_mode: static_isotropic
experimental_data:
  file_path: "$dir/work/sub/../e.h5"
  cache_directory: "$dir/away"
  cache_file_path: "$dir/away/cache"
  cache_filename_template: "../../away/{}.npz"
  phi_angles_file: "../../away/phi"
  phi_angles_path: "$dir/away"
analyzer_parameters: {dt: 0.1, scattering: {wavevector_q: 0.01}}
optimization:
  cmc:
    run_id: "../../away"
    backend_config: {checkpoint_dir: "$dir/away", checkpoint_seconds: 0.001}
    per_shard_mcmc: {jax_profile_dir: "$dir/away"}
  streaming: {checkpoint_dir: "../away"}
logging: {file: {enabled: true, path: "$dir/away", filename: "../../away.log"}}
output: {output_dir: "$dir/away", timestamp_dirs: true}
output_settings: {output_dir: "../away", output_directory: "$dir/away"}
compat: {files: true}
END
fit="$bin/homodyne-static_isotropic fit --quiet --threads 1"
# shellcheck disable=SC2086  # lists of words
{
    nowhere 0 $fit away.yaml -o allowed
    nowhere 0 "$h" fit away.yaml -o sub/../allowed2 --quiet
    nowhere 0 $fit away.yaml -o allowed --method nuts --chains 2 --warmup 60 --draws 30 # doubtful
    [ -s allowed/posterior.checkpoint ] || fail "no checkpoint in the output folder"
    nowhere 0 "$h" validate away.yaml
    nowhere 0 "$bin/homodyne-static_isotropic" extract away.yaml -o allowed/x.h5
    nowhere 0 "$h" report allowed -o allowed/report.html
    nowhere 0 "$h" plot allowed -o allowed/figures
    nowhere 0 "$h" batch away.yaml e.h5 -o allowed3 --quiet
}
[ ! -e "$dir/away" ] && [ ! -e "$dir/work/away" ] && [ ! -e "$dir/../away" ] || fail "something was written away"

# ---- the output folder of the configuration: the one that stands there
for key in 'output: {output_dir: "@"}' 'output: {directory: "@"}' 'output_directory: "@"' \
    'output_settings: {output_dir: "@"}' 'output_settings: {output_directory: "@"}'; do
    for place in allowed4 ../allowed5/deep "$dir/allowed6"; do
        rm -rf allowed4 ../allowed5 "$dir/allowed6"
        { cat plain.yaml && echo "$key" | sed "s,@,$place,"; } >own.yaml
        # shellcheck disable=SC2086
        nowhere 0 $fit own.yaml
        [ -s "$place/fit.json" ] || fail "$key: nothing in $place"
    done
done
rm -rf allowed4 ../allowed5
{ cat plain.yaml && echo 'output: {base_directory: "../allowed5", directory: "/allowed4"}'; } >own.yaml
# shellcheck disable=SC2086
nowhere 4 $fit own.yaml -o /dev/null/allowed
long=$(printf '%0200d/%0200d/%0200d/%0200d/%0200d/%0200d' 1 2 3 4 5 6)
# shellcheck disable=SC2086
nowhere 3 $fit plain.yaml -o "allowed/$long"
says "has 1213 characters"

# ---- a name of a file of data that would lead out of the folder of a batch
cp e.h5 ...h5
cp e.h5 ..h5
mkdir allowed7
nowhere 0 "$h" batch plain.yaml ./...h5 ./..h5 -o allowed7/batch --quiet
[ -s allowed7/batch/series.csv ] && [ ! -e allowed7/fit.json ] || fail "a batch wrote above its folder"
rm ...h5 ..h5

# ---- links that wait under the names of results are replaced, not followed
mkdir allowed8
echo precious >precious
for name in fit.json fit.h5 run.log summary.txt config.effective.yaml posterior.nc posterior.checkpoint; do
    ln -s ../precious allowed8/$name
done
# shellcheck disable=SC2086
expect 0 $fit plain.yaml -o allowed8 --method nuts --chains 2 --warmup 60 --draws 30
[ "$(cat precious)" = precious ] || fail "a link under the name of a result was followed"
[ ! -L allowed8/fit.json ] && [ ! -L allowed8/posterior.checkpoint ] || fail "a link stays where a result should be"

# ---- models are code: what is compiled is what the user names with --model
cat >compiler <<END
#!/bin/sh
echo "\$@" >>"$dir/compiled"
exec ${CC:-cc} "\$@"
END
chmod +x compiler
export CC="$dir/work/compiler"
cp "$here/../../models/static_isotropic.lua" evil.lua
cp evil.lua homodyne-evil
chmod +x homodyne-evil
for mode in evil evil.lua ./evil.lua ../work/evil.lua "$dir/work/evil.lua" ../../work/homodyne-evil any gen report \
    config-cpu \
    "static_isotropic;true" "\$(touch run)" "../work/evil"; do
    sed "s,^analysis_mode:.*,analysis_mode: \"$mode\"," plain.yaml >evil.yaml
    cat >>evil.yaml <<END
model: evil.lua
model_file: "$dir/work/evil.lua"
kernel: "$dir/work/evil.so"
END
    for command in fit validate "batch -o allowed9" plot "report -o allowed9/r.html" "watch --once -o allowed9"; do
        # shellcheck disable=SC2086
        "$h" $command evil.yaml >out 2>err </dev/null && fail "$command: analysis_mode $mode was taken"
    done
done
[ ! -e run ] || fail "a word of a configuration was run"

# Data that name a model, by their text, their attributes, their own name.
{ printf '# model: evil.lua\n# analysis_mode: ./evil.lua\n# kernel: evil.so\ndelay,g2\n'
    for k in 1 2 3 4 5 6 7 8 9; do echo "0.$k,1.$k"; done; } >evil.csv
cp e.h5 evil_data.lua
cp e.h5 evil.so
"$h" fit plain.yaml --data evil_data.lua -o allowed10 --quiet >out 2>err ||
    fail "data with the name of a model: $(cat err)"
"$h" fit plain.yaml --data evil.so -o allowed10 --quiet >out 2>err || fail "data with the name of a library: $(cat err)"
"$h" inspect evil_data.lua >out 2>err || fail "inspect: data with the name of a model"
"$h" fit plain.yaml --data evil.lua -o allowed10 --quiet >out 2>err && fail "a model was taken for data"
if [ -x "$bin/homodyne-kww" ]; then
    "$bin/homodyne-kww" fit --data evil.csv -o allowed10 --quiet >out 2>err
fi
if python3 -c 'import h5py' 2>/dev/null; then
    python3 - <<'END'
import h5py

with h5py.File("e.h5", "a") as f:
    for name in ("model", "analysis_mode", "kernel", "program"):
        f.attrs[name] = "evil.lua"
        f[name] = "./evil.lua"
    f["elsewhere"] = h5py.ExternalLink("evil.lua", "/x")
END
    "$h" fit plain.yaml -o allowed10 --quiet >out 2>err || fail "data with attributes: $(cat err)"
else
    echo "no h5py: attributes of HDF5 are not tried"
fi
# A folder of results that says to be of another model.
cp -r allowed allowed11
sed -i 's,"name": "static_isotropic","name": "evil.lua",; s,"model": ".*",&,' allowed11/fit.json
"$h" report allowed11 -o allowed11/report.html >out 2>err
"$h" plot allowed11 -o allowed11/figures >out 2>err
"$h" compare allowed11 allowed >out 2>err
[ ! -e "$dir/compiled" ] || fail "something was compiled that nobody named: $(cat "$dir/compiled")"
[ -z "$(find "$dir/cache" "$dir/home" -type f)" ] ||
    fail "the cache or the home folder has files: $(find "$dir/cache" "$dir/home")"

# Named by the user it is.
if command -v cc >/dev/null; then
    expect 0 "$h" fit plain.yaml --model evil.lua -o allowed12 --quiet
    [ -s "$dir/compiled" ] || fail "this test does not see what is compiled"
fi
finish
