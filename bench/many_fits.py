"""Fits a second of many stretched exponentials, 60 points and 4 parameters each: fit_many with one thread and with two,
single fits one after the other, and scipy's curve_fit from the same start, all in one run.

    HOMODYNE_GEN_LIB=build/lib PYTHONPATH=python python3 bench/many_fits.py [CURVES [ROUNDS]]

The kinds take turns, A B C A B C; medians of the rounds.  Processor time is that of all threads together, which on a
busy machine is nearer to what the fits cost.  Then every number of fit_many is compared with that of the
single fit, bit by bit, for the curves that were fitted singly.
"""
import os
import statistics
import sys
import time

import numpy as np

import homodyne_gen as hg

ROWS, NOISE, START = 60, 0.002, {"tau": 0.3, "beta": 1.0}


def curves(n):
    rng = np.random.default_rng(1)
    t = np.logspace(-3, 1, ROWS)
    tau, beta = 10 ** rng.uniform(-1.5, 0, (n, 1)), rng.uniform(0.6, 1.4, (n, 1))
    contrast = rng.uniform(0.1, 0.4, (n, 1))
    return t, 1 + contrast * np.exp(-2 * (t / tau) ** beta) + rng.normal(0, NOISE, (n, ROWS))


def timed(work):
    wall, cpu = time.perf_counter(), time.process_time()
    out = work()
    return time.perf_counter() - wall, time.process_time() - cpu, out


def scipy_fits(t, y):
    from scipy.optimize import curve_fit

    def g2(x, tau, beta, contrast, baseline):
        with np.errstate(invalid="ignore"):  # it tries tau < 0
            return baseline + contrast * np.exp(-2 * (x / tau) ** beta)

    found = []
    for one in y:
        try:
            found.append(curve_fit(g2, t, one, p0=(START["tau"], START["beta"], 0.2, 1.0))[0])
        except RuntimeError:  # it gave up
            found.append(np.full(4, np.nan))
    return np.array(found)


def same(many, singles):
    count = 0
    for c, one in enumerate(singles):
        pairs = [(many.values[c], one.values), (many.errors[c], one.errors), (many.covariance[c], one.covariance),
                 (many.intervals_95[c][0], one.interval_95["tau"]), (many.chi2[c], one.chi2)]
        count += all(np.array_equal(a, b, equal_nan=True) for a, b in pairs) and many.quality[c] == one.quality
    return count


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    m, (t, y) = hg.load_model("kww"), curves(n)
    few = y[:max(n // 20, 1)]
    fit = lambda one, search: m.fit(one, delay=t, start=START, search=search, threads=1, progress=False)  # noqa: E731
    many = lambda v, search, threads: m.fit_many(v, delay=t, start=START, search=search, threads=threads)  # noqa: E731
    kinds = {"fit_many, 1 thread": (n, lambda: many(y, False, 1)),
             "fit_many, 2 threads": (n, lambda: many(y, False, 2)),
             "fit, one by one": (len(few), lambda: [fit(one, False) for one in few]),
             "with a search, fit_many, 1 thread": (len(few), lambda: many(few, True, 1)),
             "with a search, fit, one by one": (len(few), lambda: [fit(one, True) for one in few])}
    try:
        import scipy  # noqa: F401
        kinds["scipy's curve_fit"] = (len(few), lambda: scipy_fits(t, few))
    except ImportError:
        print("  skipped: scipy's curve_fit: no scipy")
    times, out = {name: [] for name in kinds}, {}
    for _ in range(rounds):
        for name, (_, work) in kinds.items():
            wall, cpu, out[name] = timed(work)
            times[name].append((wall, cpu))
    load = os.getloadavg()[0]
    print(f"  {n} curves, {ROWS} points, 4 parameters, medians of {rounds} rounds (load average {load:.2f})")
    rate = {}
    for name, (k, _) in kinds.items():
        rate[name] = k / statistics.median(w for w, _ in times[name])
        cpu = statistics.median(c for _, c in times[name]) / k
        print(f"  {name:<36} {rate[name]:9.0f} fits a second   {1e6 * cpu:8.1f} us of processor time each")
    one, theirs = rate["fit_many, 1 thread"], "scipy's curve_fit"
    beside = f"; fit_many / scipy {one / rate[theirs]:.1f}" if theirs in rate else ""
    two, single = rate["fit_many, 2 threads"], rate["fit, one by one"]
    print(f"  two threads / one {two / one:.2f}; fit_many / fit {one / single:.2f}{beside}")
    equal = same(out["fit_many, 2 threads"], out["fit, one by one"])
    searched = same(out["with a search, fit_many, 1 thread"], out["with a search, fit, one by one"])
    print(f"  equal to the single fit, bit by bit: {equal} of {len(few)}; with a search {searched} of {len(few)}")


main()
