#!/bin/sh
# Attempts to get "good" said of a fit that is not: no signal, constants, data of other models, what is held, noise that
# is given wrongly, outliers, too few values.  One angle at rest, 60 frames, made here.
#
#     verdicts.sh BINDIR
set -eu
bin=$1
if ! command -v python3 > /dev/null; then
    echo "skipped: no python3"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 - "$bin/homodyne-static_isotropic" <<'PY'
import json
import math
import random
import struct
import subprocess
import sys

program, N, bad = sys.argv[1], 60, 0


def write(name, *matrices):
    shape = f"({len(matrices)}, {N}, {N})" if len(matrices) > 1 else f"({N}, {N})"
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (63 - (len(head) + 10) % 64) + "\n"
    values = [c2[i][j] for c2 in matrices for i in range(N) for j in range(N)]
    with open(name + ".npy", "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        f.write(struct.pack(f"<{len(values)}d", *values))
    with open(name + ".yaml", "w") as f:
        f.write(f"analysis_mode: static\nexperimental_data: {{file_path: {name}.npy}}\n"
                "analyzer_parameters: {dt: 0.1, scattering: {wavevector_q: 0.0054}}\n")


def made(mean, sigma, seed=None):  # no seed: on from the last numbers
    if seed is not None:
        random.seed(seed)
    c2 = [[0.0] * N for _ in range(N)]
    for i in range(N):
        for j in range(i, N):
            c2[i][j] = c2[j][i] = mean(0.1 * i, 0.1 * j) + (sigma * random.gauss(0, 1) if sigma else 0)
    return c2


def photons(decay, modes, pixels, counts, seed):
    """Photons of an exponential decay of |g1|^2, in frames: fields of a first-order process."""
    random.seed(seed)
    keep = math.exp(-0.5 / decay)
    new = math.sqrt(0.5 * (1 - keep * keep))
    field = [complex(random.gauss(0, math.sqrt(0.5)), random.gauss(0, math.sqrt(0.5))) for _ in range(modes * pixels)]
    frames = []
    for _ in range(N):
        seen = []
        for p in range(pixels):
            count, left = 0, random.random()
            stop = math.exp(-counts * sum(abs(z) ** 2 for z in field[p * modes:(p + 1) * modes]) / modes)
            while left > stop:
                count += 1
                left *= random.random()
            seen.append(count)
        frames.append([x * pixels / sum(seen) for x in seen])
        field = [keep * z + complex(random.gauss(0, new), random.gauss(0, new)) for z in field]
    return [[sum(a * b for a, b in zip(f, g)) / pixels for g in frames] for f in frames]


def verdict(name, *options):
    done = subprocess.run([program, "fit", name + ".yaml", "-o", "out", "--quiet", *options], capture_output=True,
                          text=True)
    if done.returncode not in (0, 2):
        return f"exit {done.returncode}", done.stderr
    fit = json.load(open("out/fit.json"))
    return fit["quality"], fit["quality_text"]


def expect(words, name, *options):
    global bad
    word, text = verdict(name, *options)
    print(f"{name:<12} {' '.join(options):<40} {word}: {text.strip()[:110]}")
    if word not in words.split():
        print(f"    FAILED: not {words}")
        bad += 1


def expect_exit(name, code, *options):
    global bad
    word, text = verdict(name, *options)
    print(f"{name:<12} {' '.join(options):<40} {word}")
    if word != f"exit {code}":
        print(f"    FAILED: not exit {code}: {text}")
        bad += 1


truth = {"D0": 8000, "alpha": -0.2, "D_offset": 100}


def mean(t1, t2):  # by a fine sum: exp(-q^2 int D dt)
    n = 40
    a, b = max(t1, 0.05), max(t2, 0.05)
    integral = sum(8000 * (a + (b - a) * (k + 0.5) / n) ** -0.2 + 100 for k in range(n)) * (b - a) / n
    return 1 + 0.3 * math.exp(-0.0054 ** 2 * integral)


held = [x for name, value in truth.items() for x in ("--fix", f"{name}={value}")]
start = [x for name, value in truth.items() for x in ("--start", f"{name}={value}")]

write("decay", made(mean, 0.01, 1))
expect("good partial", "decay")
expect("good partial", "decay", *start)
expect("held", "decay", *held)
expect("held", "decay", *held, "--scaling", "constant")
expect("held", "decay", "--fix", "D0=80000", *held[2:])
expect("unfinished", "decay", "--max-seconds", "1e-9")
expect("doubtful", "decay", "--sigma", "1")
expect("poor", "decay", "--sigma", "0.001")
expect("doubtful", "decay", "--frames", "1:8", "--sigma", "1")  # few values, and yet far too good
expect_exit("decay", 3, "--frames", "1:2")  # a single pair of frames
expect_exit("decay", 4, "--frames", "1:3")
for seed in range(2, 8):  # nothing but noise
    sigma = (0.001, 0.01, 0.3)[seed % 3]
    write("noise", made(lambda a, b: 1, sigma, seed))
    expect("flat unfinished", "noise")
    expect("flat unfinished", "noise", *start)
for seed in (4, 5, 7, 10):  # shot noise outweighs the speckles, which values of a frame still share
    write("photons", photons(10, 2, 1000, 0.2, seed))
    expect("good", "photons", "--fix", "alpha=0", "--fix", "D_offset=0")
write("constant", made(lambda a, b: 1.2, 0, 1))
expect_exit("constant", 4)
write("plateau", made(lambda a, b: 1.3, 0.01, 9))
expect("flat", "plateau")
write("weak", made(lambda a, b: 1 + (mean(a, b) - 1) / 300, 0.01, 10))
expect("flat unfinished", "weak")
write("compressed", made(lambda a, b: 1 + 0.3 * math.exp(-((b - a) / 1.5) ** 3), 0.01, 11))
expect("poor", "compressed")
write("rises", made(lambda a, b: 1 + 0.3 * (b - a) / 6, 0.01, 12))
expect("poor flat", "rises")
write("minus", made(lambda a, b: mean(a, b) - 1, 0.01, 18))  # c2 - 1: the offset cannot follow
expect("poor", "minus")
if "offset stands at its bound 0.5: are the data normalised?" not in json.load(open("out/fit.json"))["quality_text"]:
    print("    FAILED: not a word of the offset")
    bad += 1
write("times", made(lambda a, b: 50 * mean(a, b), 0.5, 19))
expect("poor", "times")
write("drift", made(lambda a, b: mean(a, b) + 0.05 * (a + b) / 6, 0.01, 13))
expect("poor doubtful", "drift")
faint = lambda a, b: 1 + 0.3 * (1 - 0.06 * (a + b) / 12) * math.exp(-(b - a) / 2)  # a contrast that drifts by 6 %
write("faint", made(faint, 0.02, 8), made(faint, 0.02), made(faint, 0.02))  # no noise is shared
program = program.replace("static_isotropic", "static_anisotropic")
expect("doubtful", "faint", "--phi", "0,45,90")
program = program.replace("static_anisotropic", "static_isotropic")
exact = lambda t: 4000 / 0.4 * t ** 0.4 + 100 * t  # D = 4000 t^-0.6 + 100, integrated from t = 0, where it diverges
write("begin", made(lambda a, b: 1 + 0.3 * math.exp(-0.0054 ** 2 * (exact(b) - exact(a))), 0.003, 20))
expect("doubtful poor", "begin")
if "the first frame, at t = 0, decides about" not in json.load(open("out/fit.json"))["quality_text"]:
    print("    FAILED: not a word of the first frame")
    bad += 1
expect("good partial", "begin", "--exclude-t0")
write("jump", made(lambda a, b: 1.3 if (a < 3) == (b < 3) else 1, 0.01, 14))
expect("poor doubtful", "jump")
outliers = made(mean, 0.01, 15)
for k in range(12):
    i, j = random.randrange(N), random.randrange(N)
    outliers[i][j] = outliers[j][i] = 1 + 3 * random.random()
write("outliers", outliers)
expect("doubtful poor", "outliers")
for seed in (16, 17, 18, 19):  # off together, as noise that frames share: the number of speckles follows it
    frames = made(mean, 0.01, seed)
    for i in (7, 21, 22, 40):
        for j in range(N):
            frames[i][j] = frames[j][i] = frames[i][j] + 0.3
    write("frames", frames)
    expect("poor doubtful", "frames")
    text = json.load(open("out/fit.json"))["quality_text"]
    if "near the frame at 2.1 s" not in text and "near the frame at 4 s" not in text:
        print(f"    FAILED: which frames: {text}")
        bad += 1
for i, j in ((30, 30), (59, 59), (20, 29)):  # one frame, the last one, some in a row
    frames = made(mean, 0.01, 31)
    for k in range(i, j + 1):
        for m in range(N):
            frames[k][m] = frames[m][k] = frames[k][m] + 0.2
    write("off", frames)
    expect("poor doubtful", "off")
write("zeros", made(lambda a, b: 0, 0, 1))
expect_exit("zeros", 4)
sys.exit(bad > 0)
PY
