"""Core-shell spheres at 200 values of q and 40 sizes: the kernel emitted from bench/coreshell.lua beside the C library
of sasmodels (double precision), on one core, in one run.

    python3 bench/sasmodels_coreshell.py [build/bench/bench-coreshell [ROUNDS]]

The two take turns; the best of the rounds counts.  sasmodels has values alone; the emitted kernel is timed with all
derivatives as well.  Its 40 sizes are sums of Gauss and Hermite's rule, those of sasmodels equidistant: the work is the
same, the last digits of the average are not.  Without sasmodels nothing is measured.
"""
import os
import re
import subprocess
import sys
import time

os.environ.setdefault("SAS_OPENCL", "none")
os.environ.setdefault("OMP_NUM_THREADS", "1")
try:
    import numpy as np
    from sasmodels.core import load_model
    from sasmodels.direct_model import get_mesh
    from sasmodels.details import make_kernel_args
except ImportError:
    print("skipped: sasmodels is not installed (pip install sasmodels)")
    sys.exit(77)


def theirs():
    """A function without arguments: one evaluation by the compiled library."""
    model = load_model("core_shell_sphere", dtype="double", platform="dll")
    kernel = model.make_kernel([0.001 * 100 ** (np.arange(200) / 199)])
    values = {"radius": 100, "thickness": 30, "radius_pd": 0.1, "radius_pd_n": 40, "radius_pd_nsigma": 4,
              "radius_pd_type": "lognormal", "sld_core": 2, "sld_shell": 1.5, "sld_solvent": 1}
    details, numbers, magnetic = make_kernel_args(kernel, get_mesh(model.info, values, dim="1d"))
    return lambda: kernel(details, numbers, 0.0, magnetic)


def best(call, times):
    found = float("inf")
    for _ in range(times):
        begin = time.perf_counter()
        call()
        found = min(found, time.perf_counter() - begin)
    return 1e6 * found


def ours(program):
    """Microseconds: values, values and derivatives."""
    out = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return [float(re.search(re.escape(line) + r"\s+([0-9.]+) us", out).group(1))
            for line in ("emitted model", "emitted points, values and slopes")]


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "build/bench/bench-coreshell"
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    call = theirs()
    call()
    library, values, slopes = float("inf"), float("inf"), float("inf")
    for _ in range(rounds):
        library = min(library, best(call, 200))
        v, s = ours(program)
        values, slopes = min(values, v), min(slopes, s)
    print(f"core-shell spheres, 200 q, 40 sizes, one core, best of {rounds} rounds")
    print(f"  sasmodels, values             {library:8.1f} us")
    print(f"  emitted, values               {values:8.1f} us   {values / library:.2f} of it")
    print(f"  emitted, values and slopes    {slopes:8.1f} us   {slopes / library:.2f} of it")


if __name__ == "__main__":
    main()
