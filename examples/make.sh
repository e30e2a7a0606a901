#!/bin/sh
# Makes the data of this folder anew: simulated experiments, one for each model.  make.sh [folder of programs]
# What each was made with stands in its first lines (.csv) or in truth.txt beside it.
set -eu
bin=$(cd "${1:-build/bin}" && pwd)
cd "$(dirname "$0")"

# table NAME options: NAME/data.csv
table() {
    name=$1
    shift
    mkdir -p "$name"
    "$bin/homodyne-$name" simulate -o "$name/data.csv" --config-out "$name/fit.yaml" --force "$@"
}

# pairs NAME options: NAME/experiment.h5, NAME/experiment.yaml
pairs() {
    name=$1
    shift
    mkdir -p "$name"
    "$bin/homodyne-$name" simulate -o "$name/experiment.h5" --config-out "$name/experiment.yaml" --force "$@"
}

# truth NAME SEED "name value unit".. : NAME/truth.txt
truth() {
    name=$1
    echo "# What experiment.h5 was simulated with: noise 0.01 per pair, seed $2" >"$name/truth.txt"
    shift 2
    printf '%s\n' "$@" >>"$name/truth.txt"
}

table cumulant --x 0.001:0.1:80 --set rate=20 --set pdi=0.2 --set contrast=0.2 --set baseline=1 --noise 0.0005 --seed 2
table diffusion_q --x 1e-4:10:50:log --groups 0.004,0.006,0.009,0.013,0.02 --set D=4e4 --set power=2.2 \
    --set q_ref=0.01 \
    --contrast 0.22,0.21,0.2,0.18,0.15 --set baseline=1 --noise 0.001 --seed 5
table dls_cumulant --x 1e-6:0.05:150:log --set rate=2500 --set pdi=0.15 --set skewness=0.03 --set contrast=0.85 \
    --set baseline=1 --noise 0.001 --seed 3
table double_exponential --x 1e-3:300:120:log --set tau_fast=0.05 --set tau_slow=4 --set fraction=0.4 \
    --set contrast=0.2 --set baseline=1 --noise 0.001 --seed 4
table kww --x 1e-3:100:100:log --set tau=0.5 --set beta=0.7 --set contrast=0.2 --set baseline=1 --noise 0.001 --seed 6
table sphere --x 0.001:0.3:150:log --set radius=250 --set scale=0.02 --set background=0.002 --set delta_rho=2e-6 \
    --noise 2% --seed 7

pairs ballistic_aging --frames 120 --dt 1 --q 0.005 --phi 0 --set age_start=50 --set age_ref=100 \
    --set tau_ref=12 --set mu=0.9 --set gamma=1.5 --contrast 0.2 --offset 1 --noise 0.01 --seed 8
truth ballistic_aging 8 "tau_ref 12 s" "mu 0.9" "gamma 1.5" "contrast 0.2" "offset 1"
pairs oscillatory_shear --frames 120 --dt 0.05 --q 0.0054 --gap 2e6 --phi 0,45,90 --set frequency=0.5 \
    --set D=3000 --set strain0=4e-4 --set delta=0.3 --set phi0=-4 --contrast 0.25 --offset 1 --noise 0.01 --seed 9
truth oscillatory_shear 9 "D 3000 angstrom^2/s" "strain0 4e-4" "delta 0.3" "phi0 -4 deg" "contrast 0.25" "offset 1"
