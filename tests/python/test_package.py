"""Tests of homodyne_gen: test_package.py RESULTS SOURCE.

RESULTS: the folder that `homodyne-laminar fit examples/laminar/experiment.yaml --method laplace` wrote.
"""
import copy
import io
import json
import math
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
import unittest.mock
import warnings

import numpy as np

import homodyne_gen as hg

RESULTS, SOURCE = (pathlib.Path(p) for p in sys.argv[1:3])
TRUTH = {"D0": 6000, "alpha": -0.3, "D_offset": 300, "gamma_dot_t0": 0.004, "beta": -0.4, "gamma_dot_t_offset": 3e-4,
         "phi0": -4, "contrast": [0.3, 0.25], "offset": 1.0}
SETUP = dict(dt=0.1, q=0.0054, gap=2e6, phi=[0, 85])
FRAMES = 160

try:
    import h5py
except ImportError:
    h5py = None
    print("skipped: tests that read HDF5 (no h5py)")
try:
    import arviz
except ImportError:
    arviz = None
    print("skipped: InferenceData objects (no arviz); plain dicts are tested")


def plain(group):
    return {name: np.asarray(group[name]) for name in group if name not in ("chain", "draw", "phi")}


class Units(unittest.TestCase):
    """What states a unit is converted to the model's, or refused with both units named."""

    def setUp(self):
        self.m = hg.load_model("laminar")
        self.grid = dict(frames=12, dt=0.1, q=0.0054, gap=2e6, phi=[0, 60])
        self.right = self.m.mean({"D0": 6000}, **self.grid)

    def same(self, params=None, **changed):
        got = self.m.mean(params or {"D0": 6000}, **dict(self.grid, **changed))
        np.testing.assert_allclose(got, self.right, rtol=1e-12)

    def test_texts(self):
        self.same(q="0.054 nm^-1", gap="200 um", dt="100 ms", phi=["0 rad", f"{math.pi / 3!r} rad"])
        self.same(q="0.0054", gap="2e6 angstrom", dt="0.1")
        self.same(params={"D0": "60 nm^2/s"})
        self.same(time=[f"{100 * k} ms" for k in range(12)], dt=None)

    def test_quantities_of_other_packages(self):
        class Astropy:
            def __init__(self, value, unit):
                self.value, self.unit = value, unit

            def __array__(self, dtype=None, copy=None):
                return np.asarray(self.value, dtype=dtype)

        class Pint(Astropy):
            magnitude = property(lambda self: self.value)
            units = property(lambda self: self.unit)

        class Xarray:
            def __init__(self, values, unit):
                self.values, self.attrs = np.asarray(values), {"units": unit}

            def __array__(self, dtype=None, copy=None):
                return np.asarray(self.values, dtype=dtype)

        for quantity in (Astropy, Pint, Xarray):
            self.same(q=quantity(0.054, "1 / nm"), gap=quantity(200, "micrometer"), dt=quantity(100.0, "ms"),
                      phi=quantity([0, math.pi / 3], "rad"))
            with self.assertRaisesRegex(hg.DataError, "'keV' is another kind of unit; expected is 1/angstrom"):
                self.same(q=quantity(0.054, "keV"))

    def test_other_kinds_of_units(self):
        for name, value in (("q", "0.054 s"), ("q", "0.054 foo"), ("gap", "200 1/nm"), ("dt", "0.1 nm"), ("q", "much")):
            with self.assertRaisesRegex(hg.DataError, f"{name}: .*{value.split()[-1]}"):
                self.same(**{name: value})
        with self.assertRaisesRegex(hg.DataError, "phi: '60 nm'.*deg"):
            self.same(phi=[0, "60 nm"])
        with self.assertRaisesRegex(hg.DataError, "D0: '60 s'"):
            self.same(params={"D0": "60 s"})

    def test_fits(self):
        c2 = self.right + 1e-4 * np.random.default_rng(1).normal(size=self.right.shape)
        given = dict(q="0.054 nm^-1", gap="200 um", dt="100 ms", phi=[0, 60], search=False)
        held = {p.name: p.start for p in self.m.parameters if p.name != "D0"}
        r = self.m.fit(c2, fix=held, start={"D0": "50 nm^2/s"}, bounds={"D0": ("1 nm^2/s", "1 um^2/s")}, **given)
        self.assertAlmostEqual(r.params["D0"] / 6000, 1, 1)
        with self.assertRaisesRegex(hg.DataError, "bounds of D0: '1 um'"):
            self.m.fit(c2, bounds={"D0": ("1 nm^2/s", "1 um")}, **given)

    def test_columns_of_tables(self):
        kww = hg.load_model("kww")
        right = kww.mean(delay=[0.1, 0.2])
        np.testing.assert_allclose(kww.mean(delay=["100 ms", "0.2"]), right, rtol=1e-12)
        with self.assertRaisesRegex(hg.DataError, "delay: '1 nm'"):
            kww.mean(delay=["100 ms", "1 nm"])


class Models(unittest.TestCase):
    def test_every_installed_model_has_values(self):
        self.assertIn("laminar", hg.models())
        for name in hg.models():
            m = hg.load_model(name)
            given = {s.name: 0.01 if math.isnan(s.start) else s.start for s in m.settings if s.name != "dt"}
            given.update({a.name: [0.01, 0.02] for a in m.axes})
            if m.is_pairs:
                mean = m.mean(frames=5, dt=0.1, **given)
                self.assertEqual(mean.shape[1:], (5, 5), name)
                np.testing.assert_array_equal(mean, np.swapaxes(mean, 1, 2), name)
            else:
                given.update({c.name: np.array([0.01, 0.02]) for c in m.columns if c.role == "covariate"})
                mean = m.mean(values=[0.1, 0.2], **given)
                self.assertEqual(mean.shape, (2,), name)
            self.assertTrue(np.isfinite(mean).all(), name)
            self.assertIn(m.title, repr(m))

    def test_value_of_the_model_file(self):  # models/kww.lua, digits from elsewhere
        kww = hg.load_model("kww")
        g2 = kww.mean({"tau": 0.3, "beta": 0.7, "contrast": 0.2, "baseline": 1.02}, delay=0.1)
        self.assertAlmostEqual(g2[0], 1.09915367792294033, delta=1e-15 * 4)

    def test_jacobian_is_slope_of_mean(self):
        m = hg.load_model("laminar")
        jac = m.jacobian(TRUTH, frames=10, **SETUP)
        self.assertEqual(jac.shape, (2, 10, 10, 9))
        for k, p in enumerate(m.parameters + m.linear):
            x = np.asarray(TRUTH[p.name], dtype=float)
            up, down = (m.mean({**TRUTH, p.name: x * f}, frames=10, **SETUP) for f in (1 + 1e-5, 1 - 1e-5))
            step = (2e-5 * np.broadcast_to(x, (2,)))[:, None, None]
            slope = (up - down) / step
            # of the parameter's logarithm: third derivative h^2/6 and rounding 2^-52/h, both near 1e-10
            self.assertLess(np.abs((slope - jac[..., k]) * step / 2e-5).max(), 1e-9, p.name)

    def test_frames_that_take_part(self):
        m = hg.load_model("laminar")
        every = m.mean(TRUTH, frames=20, **SETUP)
        some = m.mean(TRUTH, frames=20, use=[0, 3, 17], **SETUP)
        np.testing.assert_array_equal(some, every[np.ix_([0, 1], [0, 3, 17], [0, 3, 17])])
        np.testing.assert_array_equal(every, m.mean(TRUTH, time=np.arange(20) * 0.1, **{**SETUP, "dt": 0.1}))

    def test_curves_of_a_table(self):
        m = hg.load_model("diffusion_q")
        g2 = m.mean({"D": 4e4, "power": 2, "contrast": [0.2, 0.3], "baseline": [1.01, 1.02]},
                    q=[0.01, 0.02, 0.01], delay=[0, 0, np.nan])
        np.testing.assert_allclose(g2, [1.21, 1.32, np.nan], rtol=1e-15)

    def test_same_values_for_any_number_of_threads(self):
        m = hg.load_model("laminar")
        one = m.jacobian(TRUTH, frames=30, threads=1, **SETUP)
        np.testing.assert_array_equal(one, m.jacobian(TRUTH, frames=30, threads=3, **SETUP))


class Mistakes(unittest.TestCase):
    def told(self, kind, text, call, *args, **kw):
        with self.assertRaises(kind) as caught:
            call(*args, **kw)
        self.assertIn(text, str(caught.exception))

    def test_mistakes_are_told(self):
        m = hg.load_model("laminar")
        self.told(hg.UsageError, "did you mean 'laminar'", hg.load_model, "laminer")
        self.told(ValueError, "fastest", hg.load_model, "laminar", "fastest")
        self.told(hg.FileError, "/nowhere/x.so", hg.load_model, "/nowhere/x.so")
        self.told(hg.UsageError, "did you mean 'D0'", m.mean, {"D_0": 1}, frames=4, **SETUP)
        self.told(hg.UsageError, "did you mean 'gap'", m.mean, frames=4, dt=1, q=1, gapp=1, phi=0)
        self.told(hg.UsageError, "setting 'gap'", m.mean, frames=4, dt=1, q=1, phi=0)
        self.told(hg.UsageError, "phi= is missing", m.mean, frames=4, dt=1, q=1, gap=1)
        self.told(hg.UsageError, "frame period", m.mean, frames=4, q=1, gap=1, phi=0)
        self.told(hg.DataError, "contrast: shape (3,)", m.mean, {"contrast": [1, 2, 3]}, frames=4, **SETUP)
        self.told(hg.DataError, "values: shape", m.fit, np.ones((2, 4, 5)), **SETUP)
        self.told(hg.DataError, "(2, 8, 8) would be right", m.fit, np.ones((3, 8, 8)), **SETUP)
        self.told(hg.DataError, "sigma", m.fit, np.ones((2, 8, 8)), sigma=np.ones(3), **SETUP)
        self.told(hg.UsageError, "huber", m.fit, np.ones((2, 8, 8)), loss="hubber", **SETUP)
        self.told(hg.UsageError, "list", m.fit, np.ones((2, 8, 8)), fix="D0", **SETUP)
        self.told(hg.Error, "", m.fit, np.full((2, 8, 8), np.nan), **SETUP)
        self.told(hg.DataError, "complex numbers", m.fit, np.ones((2, 8, 8)) * 1j, **SETUP)
        self.told(hg.DataError, "complex numbers", m.mean, {"D0": [1j]}, frames=4, **SETUP)
        kww = hg.load_model("kww")
        self.told(hg.UsageError, "delay= is missing", kww.mean)
        self.told(hg.UsageError, "frames=", kww.mean, frames=3, delay=1)
        self.told(hg.DataError, "delay: 'x' is not a number", kww.mean, delay=["x"])
        self.told(hg.FileError, "no such file", hg.load_results, "/nowhere")

    def test_library_that_is_missing(self):
        done = subprocess.run([sys.executable, "-c", "import homodyne_gen as hg; hg.models()"],
                              capture_output=True, text=True,
                              env={**os.environ, "HOMODYNE_GEN_LIB": "/nowhere/lib.so"})
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("HOMODYNE_GEN_LIB", done.stderr)


class Fits(unittest.TestCase):
    m = None

    @classmethod
    def setUpClass(cls):
        Fits.make()

    @classmethod
    def make(cls):
        """Data of two azimuths and the fit of them, made once."""
        if cls.m:
            return
        cls.m = hg.load_model("laminar")
        c2 = cls.m.mean(TRUTH, frames=FRAMES, **SETUP)
        noise = np.triu(0.01 * np.random.default_rng(3).standard_normal(c2.shape), 1)
        cls.c2 = c2 + noise + np.swapaxes(noise, 1, 2)
        cls.r = cls.m.fit(cls.c2, **SETUP)

    def test_truth_is_found(self):
        r = self.r
        self.assertTrue(r.converged, r.message)
        for name in ("alpha", "gamma_dot_t0", "beta", "phi0", "contrast", "offset"):
            off = (np.asarray(r.params[name])
                   - TRUTH[name]) / r.std_curvature[name]  # a second minimum: phi0 has no std
            self.assertLess(np.abs(off).max(), 5, name)
        self.assertTrue(np.isnan(r.std["phi0"]) and r.interval_95["phi0"][0] < -4 < r.interval_95["phi0"][1])
        # noise of 25440 pairs: known to 1/sqrt(2 25440) = 0.44 %
        self.assertLess(abs(r.sigma_common / 0.01 - 1), 0.022)
        self.assertEqual(r.npoint, 2 * FRAMES * (FRAMES - 1) // 2)
        self.assertEqual(len(r.names), r.values.size)
        np.testing.assert_allclose(np.diag(r.covariance), r.errors**2, rtol=1e-12)
        i, j = np.triu_indices(FRAMES, 1)
        self.assertAlmostEqual((r.residuals()[:, i, j]**2).sum() / r.chi2, 1, delta=1e-9)
        json.dumps(r.to_dict())

    def test_options(self):
        held = self.m.fit(self.c2, fix={"phi0": -4, "offset": 1.0}, bounds={"alpha": (-0.1, 1)}, **SETUP)
        self.assertEqual(held.params["phi0"], -4)
        self.assertEqual(held.std["phi0"], 0)
        np.testing.assert_array_equal(held.params["offset"], [1, 1])
        self.assertGreaterEqual(held.params["alpha"], -0.1)
        shared = self.m.fit(self.c2, scaling="averaged", noise=0.01, threads=1, **SETUP)
        self.assertEqual(shared.params["contrast"][0], shared.params["contrast"][1])
        self.assertEqual(len(set(self.m.fit(self.c2, threads=t, **SETUP).values.tobytes() for t in (1, 2, 3))), 1)

    def test_what_does_not_count(self):
        holes = self.c2.copy()
        holes[0, 3, 7] = np.nan
        holes[1, 9, 3] = np.nan  # below the diagonal: is not read
        self.assertEqual(self.m.fit(holes, **SETUP).npoint, self.r.npoint - 1)

    def test_table_with_errors(self):
        kww, delay = hg.load_model("kww"), np.logspace(-3, 1, 80)
        truth = {"tau": 0.5, "beta": 0.7, "contrast": 0.2, "baseline": 1.0}
        noise = 1e-3 * np.random.default_rng(5).standard_normal(80)
        r = kww.fit(kww.mean(truth, delay=delay) + noise, sigma=1e-3, delay=delay)
        for name, value in truth.items():
            self.assertIsInstance(r.params[name], float)
            self.assertLess(abs(r.params[name] - value) / r.std[name], 5, name)
        self.assertLess(abs(r.reduced_chi2 - 1), 1)
        self.assertEqual(set(plain(r.to_inferencedata(10)["posterior"])), set(truth))

    def test_rows_that_follow_from_measured_ones(self):
        m, y = hg.load_model("arma"), np.array([1.5, 0.25, -1, 2])  # the test point of models/arma.lua
        truth = {"mu": 0.5, "phi": 0.75, "theta": -0.5, "sigma": 1}
        np.testing.assert_allclose(m.mean(truth, values=y), [0.5, 0.75, 0.5625, 0.15625], rtol=1e-15)
        with self.assertRaisesRegex(hg.UsageError, "values= is missing"):
            m.mean(truth)
        with self.assertRaisesRegex(hg.UsageError, "no pair of frames"):
            hg.load_model("laminar").mean(values=y, frames=5, **SETUP)
        normal, y = np.random.default_rng(3).standard_normal((2, 201)), np.zeros((2, 201))
        for k in range(1, 201):
            y[:, k] = 0.5 + 0.75 * (y[:, k - 1] - 0.5) - 0.5 * normal[:, k - 1] + normal[:, k]
        r = m.fit(y[0, 1:])
        for name in ("mu", "phi", "theta"):
            self.assertLess(abs(r.params[name] - truth[name]) / r.std[name], 4, name)
        np.testing.assert_allclose(r.residuals(), y[0, 1:] - m.mean(r.params, values=y[0, 1:]), rtol=1e-14)
        both = m.fit_many(y[:, 1:])
        for k, name in enumerate(("mu", "phi", "theta", "sigma")):
            self.assertEqual(both.values[0, k], r.params[name], name)
            self.assertEqual(both.values[1, k], m.fit(y[1, 1:]).params[name], name)

    def test_values_of_curves_go_where_their_coordinates_are(self):
        m = hg.load_model("diffusion_q")
        q, delay = np.repeat([0.01, 0.02, 0.03], 30), np.tile(np.logspace(-3, 0, 30), 3)
        truth = {"D": 4e4, "power": 2, "contrast": [0.2, 0.3, 0.1], "baseline": 1}
        r = m.fit(m.mean(truth, q=q, delay=delay), sigma=1e-3, q=q, delay=delay)
        np.testing.assert_allclose(r.params["contrast"], truth["contrast"], rtol=1e-6)
        mean = m.mean(r.params, q=q, delay=delay)
        for other in (r.params, copy.deepcopy(r.params), pickle.loads(pickle.dumps(r.params))):
            np.testing.assert_array_equal(m.mean(other, q=q[::-1], delay=delay[::-1]), mean[::-1])
        np.testing.assert_array_equal(m.mean(r.params, q=0.02, delay=delay[:30]), mean[30:60])  # of one curve
        by_q = {**r.params, "contrast": dict(zip([0.03, 0.01, 0.02], np.roll(r.params["contrast"], 1)))}
        np.testing.assert_array_equal(m.mean(by_q, q=q, delay=delay), mean)
        held = m.fit(mean[::-1], sigma=1e-3, q=q[::-1], delay=delay[::-1], fix={"contrast": r.params["contrast"]})
        np.testing.assert_array_equal(held.params["contrast"], r.params["contrast"][::-1])
        for params in (r.params, by_q):
            with self.assertRaises(hg.DataError) as caught:
                m.mean(params, q=0.04, delay=delay)
            self.assertIn("contrast: has no value at q 0.04", str(caught.exception))
        with self.assertRaises(hg.DataError):
            hg.load_model("laminar").mean({"contrast": r.params["contrast"]}, frames=5, **{**SETUP, "phi": [1, 2, 3]})
        self.assertIs(type(2 * r.params["contrast"]), np.ndarray)  # what is computed has no place of its own
        self.assertIs(type(r.params["contrast"][::-1]), np.ndarray)
        self.assertEqual(np.ndim(r.params["contrast"].sum()), 0)
        self.assertIn("q=[0.01, 0.02, 0.03]", repr(r.params["contrast"]))

    def test_draws_have_mean_and_covariance(self):
        idata = self.r.to_inferencedata(draws=2000, chains=4, seed=1)
        x = plain(idata["posterior"])
        self.assertEqual(x["alpha"].shape, (4, 2000))
        self.assertEqual(x["contrast"].shape, (4, 2000, 2))
        for name in ("alpha", "beta"):  # of 8000 independent draws: 1.1 % of the deviation, 0.8 % of itself
            self.assertLess(abs(x[name].mean() - self.r.params[name]) / self.r.std[name], 0.06)
            self.assertLess(abs(x[name].std() / self.r.std[name] - 1), 0.05)
        np.testing.assert_array_equal(np.asarray(idata["observed_data"]["c2"]), self.c2)
        if arviz:
            self.assertEqual(idata["posterior"]["contrast"].dims, ("chain", "draw", "phi"))
            np.testing.assert_array_equal(idata["posterior"]["phi"], SETUP["phi"])

    def test_interruption(self):
        setup = {**SETUP, "phi": np.linspace(-80, 80, 12)}
        c2 = self.m.mean({**TRUTH, "contrast": 0.3}, frames=600, **setup)
        begun = time.monotonic()
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            while time.monotonic() < begun + 60:  # a fast machine may need several
                self.m.fit(c2, everywhere=True, multistart=20, **setup)
        inside = [f for f in sys._current_frames().values() if f.f_code.co_name == "work"
                  and "homodyne_gen" in f.f_code.co_filename]
        self.assertFalse(inside, "the fit still runs, and reads arrays that are gone")
        timer.join()

    def test_fits_in_threads(self):
        found = [None] * 3

        def work(k):
            found[k] = self.m.fit(self.c2, **SETUP).values

        threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        for values in found:
            np.testing.assert_array_equal(values, self.r.values)


class ManyCurves(unittest.TestCase):
    """fit_many against fit, curve by curve: the same bits."""

    @classmethod
    def setUpClass(cls):
        rng = np.random.default_rng(7)
        cls.m, cls.t, n = hg.load_model("kww"), np.logspace(-3, 1, 60), 40
        tau, beta = 10 ** rng.uniform(-1.5, 0, (n, 1)), rng.uniform(0.6, 1.4, (n, 1))
        cls.y = 1 + 0.2 * np.exp(-2 * (cls.t / tau) ** beta) + rng.normal(0, 0.002, (n, 60))
        cls.y[3] = np.nan  # no value at all
        cls.y[4] = 1       # no signal
        cls.y[5, ::3] = np.inf

    def compare(self, many, c, one):
        self.assertEqual(many.names, [name.removesuffix("[0]") for name in one.names])
        for a, b in ((many.values[c], one.values), (many.errors[c], one.errors), (many.covariance[c], one.covariance),
                     (many.chi2[c], one.chi2), (many.reduced_chi2[c], one.reduced_chi2),
                     (many.errors_robust[c], np.concatenate([np.ravel(v) for v in one.std_robust.values()])),
                     (many.intervals_95[c][0], one.interval_95["tau"])):
            np.testing.assert_array_equal(a, b)
        self.assertEqual((many.status[c], many.quality[c], many.quality_text[c], many.message[c], many.npoint[c]),
                         (one.status, one.quality, one.quality_text, one.message, one.npoint))

    def test_every_curve_is_what_it_is_alone(self):
        for sigma, delay, search in ((None, self.t, True), (0.002, self.t * np.ones((40, 1)), False)):
            many = self.m.fit_many(self.y, sigma=sigma, delay=delay, search=search, threads=2)
            self.assertEqual((len(many), many.values.shape), (40, (40, 4)))
            self.assertEqual(list(np.flatnonzero(many.failed)), [3])
            self.assertIn("none of the 60 rows", many.message[3])
            self.assertTrue(np.isnan(many.values[3]).all() and np.isnan(many["tau"][3]))
            for c in range(0 if search is False else 4, 40 if search is False else 8):
                if c != 3:
                    s = None if sigma is None else np.full(60, sigma)
                    self.compare(many, c, self.m.fit(self.y[c], sigma=s, delay=self.t, search=search))
            self.assertIn("1 could not be fitted", repr(many))

    def test_a_device_changes_no_number_beyond_rounding(self):
        cpu = self.m.fit_many(self.y, delay=self.t, search=False)
        many = self.m.fit_many(self.y, delay=self.t, search=False, device="plain", threads=3)
        one = self.m.fit(self.y[7], delay=self.t, search=False, device="plain")
        self.assertIsNone(cpu.device)
        self.assertEqual((many.device, many.device_text), (one.device, ""))
        self.assertIn("this processor", many.device)
        self.assertGreater(many.device_sums, 40)
        self.compare(many, 7, one)
        good = np.isfinite(cpu.errors[:, 0])
        self.assertLess(np.nanmax(np.abs(many.values[good] - cpu.values[good]) / cpu.errors[good]), 1e-9)
        with self.assertRaises(hg.Error) as caught:
            self.m.fit_many(self.y, delay=self.t, device="nonsense")
        self.assertIn("must be cpu, gpu, auto", str(caught.exception))

    def test_mistakes_are_told(self):
        for wrong, text in ((dict(values=self.y[0], delay=self.t), "(curves, rows)"),
                            (dict(values=self.y, delay=self.t[:5]), "all curves share it"),
                            (dict(values=self.y), "delay= is missing"),
                            (dict(values=self.y, delay=self.t, dealy=1), "did you mean 'delay'"),
                            (dict(values=self.y, delay=self.t, sigma=self.t[:5]), "all curves share it"),
                            (dict(values=self.y, delay=self.t, start={"tua": 1}), "did you mean 'tau'")):
            with self.assertRaises(hg.Error) as caught:
                self.m.fit_many(**wrong)
            self.assertIn(text, str(caught.exception))
        with self.assertRaises(hg.UsageError):
            hg.load_model("laminar").fit_many(self.y)


class Linked(unittest.TestCase):
    """Ties and values of groups; references: fits in which the same is said with other words."""

    @classmethod
    def setUpClass(cls):
        Fits.make()
        cls.m, cls.c2 = Fits.m, Fits.c2

    def test_tie_is_a_fit_with_one_parameter_less(self):
        r = self.m.fit(self.c2, ties={"gamma_dot_t_offset": "0.075*gamma_dot_t0"}, fix={"D_offset": 300}, **SETUP)
        self.assertTrue(r.converged)
        self.assertNotIn("gamma_dot_t_offset", r.names)
        value, error = r.tied["gamma_dot_t_offset"]
        self.assertAlmostEqual(value, 0.075 * r.params["gamma_dot_t0"], delta=1e-15)
        self.assertAlmostEqual(error / (0.075 * r.std["gamma_dot_t0"]), 1, delta=1e-9)
        self.assertEqual(r.params["D_offset"], 300)
        held = self.m.fit(self.c2, fix={"gamma_dot_t_offset": value, "D_offset": 300}, **SETUP)
        self.assertLess(abs(held.chi2 / r.chi2 - 1), 1e-3)  # both at nearly the same place
        self.assertLessEqual(held.chi2, r.chi2 * (1 + 1e-12))  # where the tie has its minimum
        self.assertIn("(tied)", repr(r))
        i, j = np.triu_indices(FRAMES, 1)
        self.assertAlmostEqual((r.residuals()[:, i, j]**2).sum() / r.chi2, 1, delta=1e-9)

    def test_values_of_groups(self):
        r = self.m.fit(self.c2, share={"D0": "per_angle"}, **SETUP)
        self.assertIn("D0[0]", r.params)
        self.assertIn("D0[85]", r.params)
        np.testing.assert_array_equal(r.group_params["D0"], [r.params["D0[0]"], r.params["D0[85]"]])
        self.assertLessEqual(r.chi2, Fits.r.chi2 * (1 + 1e-12))  # more freedom
        i, j = np.triu_indices(FRAMES, 1)
        self.assertAlmostEqual((r.residuals()[:, i, j]**2).sum() / r.chi2, 1, delta=1e-9)
        sets = self.m.fit(self.c2, share={"D0": [[0], [85]]}, **SETUP)
        self.assertAlmostEqual(sets.chi2 / r.chi2, 1, delta=1e-9)
        again = self.m.fit(self.c2, **SETUP)  # nothing of the links is left
        np.testing.assert_array_equal(again.values, Fits.r.values)

    def test_mistakes_are_told(self):
        for kind, text, wish in ((hg.UsageError, "no parameter 'gammadot'", {"ties": {"phi0": "gammadot"}}),
                                 (hg.UsageError, "outside its bounds", {"start": {"alpha": 7}}),
                                 (hg.UsageError, "phi 33", {"share": {"D0": [[0, 33], [85]]}})):
            with self.assertRaises(kind) as caught:
                self.m.fit(self.c2, **wish, **SETUP)
            self.assertIn(text, str(caught.exception))


class SeveralFiles(unittest.TestCase):
    """A list of files: each has its settings, parameters are shared or its own."""

    @classmethod
    def setUpClass(cls):
        cls.kww, rng, cls.t = hg.load_model("kww"), np.random.default_rng(5), np.logspace(-3, 1, 60)
        cls.files = [{"delay": cls.t[k:], "sigma": np.full(60 - k, 0.003), "g2": rng.normal(
            cls.kww.mean({"tau": tau, "beta": 0.8, "contrast": 0.2, "baseline": 1}, delay=cls.t[k:]), 0.003)}
            for k, tau in enumerate((0.2, 0.4, 0.6))]

    def test_what_is_its_own_is_that_of_the_file(self):
        own = {p: "per_file" for p in ("tau", "beta", "contrast", "baseline")}
        r, alone = self.kww.fit(self.files, share=own), [self.kww.fit(f) for f in self.files]
        for k, one in enumerate(alone):
            for name in ("tau", "beta"):
                self.assertLess(abs(r.params[f"{name}[{k + 1}]"] - one.params[name]), 1e-6 * one.std[name])
                self.assertAlmostEqual(r.std[f"{name}[{k + 1}]"] / one.std[name], 1, 3)
            self.assertLess(abs(r.params["contrast"][k] - one.params["contrast"]), 1e-6 * one.std["contrast"])
        self.assertAlmostEqual(r.chi2, sum(one.chi2 for one in alone), 6)
        self.assertEqual(r.params["contrast"].coords["file"].tolist(), [1, 2, 3])
        np.testing.assert_allclose(r.mean(), np.concatenate([one.mean() for one in alone]), rtol=1e-7)
        self.assertEqual(pickle.loads(pickle.dumps(r)).mean().shape, (177,))

    def test_what_is_shared_is_one(self):
        r = self.kww.fit(self.files, share={"tau": "per_file"})
        self.assertEqual(list(r.params), ["tau[1]", "tau[2]", "tau[3]", "beta", "contrast", "baseline"])
        self.assertLess(abs(r.params["beta"] - 0.8), 4 * r.std["beta"])
        d = self.kww.sample(self.files, share={"tau": "per_file"}, draws=100, chains=2, progress=False)
        self.assertEqual(d["tau[3]"].shape, (2, 100))
        self.assertEqual(self.kww.objective(self.files).residuals([0.4, 0.8, 0.2, 1]).shape, (177,))

    def test_settings_and_matrices_of_each(self):
        m, rng, files = hg.load_model("static_anisotropic"), np.random.default_rng(6), []
        for q, frames in ((0.005, 50), (0.009, 70)):
            truth = {"D0": 3000, "alpha": 0, "D_offset": 0, "contrast": 0.3, "offset": 1}
            c2 = m.mean(truth, frames=frames, dt=0.1, q=q, phi=[0, 90])
            c2 = c2 + rng.normal(0, 0.02, c2.shape)
            files.append({"values": (c2 + c2.transpose(0, 2, 1)) / 2, "dt": 0.1, "phi": [0, 90], "q": q})
        held = dict(fix={"alpha": 0, "D_offset": 0})
        r = m.fit(files, **held)
        self.assertLess(abs(r.params["D0"] - 3000), 4 * r.std["D0"])
        self.assertEqual(r.coords["file"].tolist(), [1, 1, 2, 2])
        self.assertLess(np.nanstd(r.residuals()), 0.022)  # every file with its own q
        bare = [{k: v for k, v in f.items() if k != "q"} for f in files]
        self.assertEqual(m.fit(bare, q=["0.005 angstrom^-1", 0.009], **held).params["D0"], r.params["D0"])
        each = m.fit(files, share={"D0": "per_file"}, **held)
        alone = m.fit(files[1]["values"], dt=0.1, phi=[0, 90], q=0.009, **held)
        self.assertLess(abs(each.params["D0[2]"] - alone.params["D0"]), 1e-5 * alone.std["D0"])
        self.assertEqual(r.time.shape, (70,))
        slow = m.mean(truth, frames=20, dt=1.7, q=0.009, phi=[0, 60, 90])
        slow = slow + rng.normal(0, 0.02, slow.shape)
        own = [files[0], {"values": (slow + slow.transpose(0, 2, 1)) / 2, "dt": 1.7, "phi": [0, 60, 90], "q": 0.009}]
        each = m.fit(own, share={"D0": "per_file"}, **held)
        for f, c in enumerate(own):
            alone = m.fit(c["values"], dt=c["dt"], phi=c["phi"], q=c["q"], **held)
            self.assertLess(abs(each.params[f"D0[{f + 1}]"] - alone.params["D0"]), 1e-5 * alone.std["D0"])
        r = m.fit(own, **held)
        self.assertLess(abs(r.params["D0"] - 3000), 4 * r.std["D0"])
        self.assertEqual(r.time.shape, (5, 50))
        self.assertEqual(np.isfinite(r.time[:, 49]).tolist(), [True, True, False, False, False])
        self.assertAlmostEqual(r.time[4, 19], 19 * 1.7)
        for change, word in ((dict(q=[0.005, 0.006, 0.007]), "3 values for 2 files"), (dict(use=[0, 1]), "load_data"),
                             (dict(estimator="efficient"), "one data file")):
            with self.assertRaisesRegex((hg.UsageError, hg.DataError), word):
                m.fit(bare, **{"q": 0.005, **change}, **held)

    def test_mistakes_are_told(self):
        bare = {k: v for k, v in self.files[1].items() if k != "sigma"}
        with self.assertRaisesRegex(hg.DataError, "file 2 has none"):
            self.kww.fit([self.files[0], bare])
        with self.assertRaisesRegex(hg.UsageError, "several"):
            self.kww.fit(self.files[0], share={"tau": "per_file"})


class Posterior(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        Fits.make()
        cls.kww, cls.delay = hg.load_model("kww"), np.logspace(-3, 1, 80)
        cls.truth = {"tau": 0.5, "beta": 0.7, "contrast": 0.2, "baseline": 1.0}
        noise = 1e-3 * np.random.default_rng(5).standard_normal(80)
        cls.g2 = cls.kww.mean(cls.truth, delay=cls.delay) + noise
        cls.d = cls.kww.sample(cls.g2, sigma=1e-3, delay=cls.delay, draws=1000, seed=1)

    def test_draws_agree_with_least_squares(self):
        d = self.d
        self.assertEqual(d.verdict, "good", d.verdict_text)
        self.assertEqual(d["tau"].shape, (4, 1000))
        self.assertEqual(d["contrast"].shape, (4, 1000))  # over no axis
        self.assertIsInstance(d.fit.params["contrast"], float)
        self.assertLess(d.max_r_hat, 1.01)
        self.assertEqual(d.divergences, 0)
        for name in ("tau", "beta"):  # nearly normal here: third order in std/value, and 1/sqrt(ESS) = 2 %
            self.assertLess(abs(d[name].mean() - d.fit.params[name]) / d.fit.std[name], 0.3)
            self.assertLess(abs(d[name].std() / d.fit.std[name] - 1), 0.15)
            self.assertAlmostEqual(d.summary[name]["mean"] / d[name].mean(), 1, delta=1e-12)
        self.assertEqual(d.stats["diverging"].shape, (4, 1000))
        self.assertIn("R-hat", repr(d))
        self.assertIn("<table>", d._repr_html_())

    def test_seed_and_threads(self):
        options = dict(sigma=1e-3, delay=self.delay, draws=50, warmup=50, chains=2)
        one, two = (self.kww.sample(self.g2, seed=3, threads=t, **options) for t in (1, 2))
        np.testing.assert_array_equal(one["tau"], two["tau"])
        self.assertFalse(np.array_equal(one["tau"], self.kww.sample(self.g2, seed=4, **options)["tau"]))

    def test_methods(self):
        d = self.kww.fit(self.g2, sigma=1e-3, delay=self.delay, method="laplace")
        self.assertIsInstance(d, hg.Draws)
        self.assertLess(d.pareto_k, 0.7)
        with self.assertRaises(hg.UsageError):
            self.kww.sample(self.g2, sigma=1e-3, delay=self.delay, method="metropolis")
        with self.assertRaises(hg.UsageError):
            self.kww.sample(self.g2, sigma=1e-3, delay=self.delay, draws=-1)

    def test_inference_data(self):
        idata = self.d.to_inferencedata()
        np.testing.assert_array_equal(np.asarray(idata["posterior"]["tau"]), self.d["tau"])
        np.testing.assert_array_equal(np.asarray(idata["sample_stats"]["energy"]), self.d.stats["energy"])
        if arviz:
            summary = arviz.summary(idata, var_names=["tau"])
            self.assertLess(abs(float(summary["r_hat"].iloc[0]) - self.d.summary["tau"]["r_hat"]), 0.01)

    def test_tied_posterior_of_matrices(self):
        m, c2 = Fits.m, Fits.c2
        d = m.sample(c2, ties={"D_offset": "0.05*D0"}, draws=60, warmup=60, chains=2, **SETUP)
        self.assertNotIn("D_offset", d.draws)
        self.assertEqual(d["contrast"].shape, (2, 60, 2))
        self.assertEqual(d["sigma"].shape, (2, 60, 2))

    def test_progress_that_stops_or_fails(self):
        m, c2, seen = Fits.m, Fits.c2, []

        def fails(*p):
            seen.append(p[0])
            raise OverflowError("of the callback")

        for call in (m.fit, m.sample):
            with self.assertRaises(OverflowError) as caught:
                call(c2, progress=fails, **SETUP)
            self.assertEqual(str(caught.exception), "of the callback")
        self.assertEqual(len(seen), 2)  # one call each, then the work ends
        r = m.fit(c2, progress=lambda *p: p[1] >= 1, **SETUP)
        self.assertEqual((r.status, r.converged), ("interrupted", False))
        for stop in (lambda *p: p[0] == "sampling" and p[1] > 10, lambda *p: p[0] != "sampling"):
            with self.assertRaises(hg.Stopped) as caught:
                m.sample(c2, draws=1000, warmup=300, progress=stop, **SETUP)
            self.assertIn("stopped", str(caught.exception))
            self.assertNotIn("signal", str(caught.exception))

    def test_interruption_and_progress(self):
        m, c2 = Fits.m, Fits.c2
        told = []
        d = m.sample(c2, draws=5000, warmup=50, progress=lambda *p: told.append(p) or p[0] == "sampling" and p[1] > 600,
                     **SETUP)
        self.assertFalse(d.complete)
        self.assertLess(d["alpha"].shape[1], 5000)
        self.assertIn("sampling", {p[0] for p in told})
        timer = threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            m.sample(c2, draws=200000, **SETUP)
        timer.join()


class ModelFiles(unittest.TestCase):
    def setUp(self):
        self.cache = tempfile.TemporaryDirectory()
        self.addCleanup(self.cache.cleanup)
        os.environ["XDG_CACHE_HOME"] = self.cache.name
        self.addCleanup(os.environ.pop, "XDG_CACHE_HOME")

    def test_model_file_is_compiled_once(self):
        with open(SOURCE / "models/kww.lua") as f:
            text = f.read().replace('model "kww"', 'model "my_kww"')
        own = pathlib.Path(self.cache.name) / "my.lua"
        own.write_text(text)
        try:
            m = hg.load_model(own)
        except hg.UsageError as error:
            if "C compiler" not in str(error):
                raise
            self.skipTest(f"no C compiler: {error}")
        self.assertEqual(m.name, "my_kww")
        g2 = m.mean({"tau": 0.3, "beta": 0.7, "contrast": 0.2, "baseline": 1.02}, delay=0.1)
        self.assertAlmostEqual(g2[0], 1.09915367792294033, delta=4e-15)
        kernels = list(pathlib.Path(self.cache.name).glob("homodyne/*/*.so"))
        made = kernels[0].stat().st_mtime_ns
        hg.load_model(str(own))
        self.assertEqual([k.stat().st_mtime_ns for k in kernels], [made])

    def test_derived_quantities(self):
        own = pathlib.Path(self.cache.name) / "half.lua"
        own.write_text("""local m = model "half" { title = "Several decays" }
local t, y = m.columns({ "t", unit = "s", range = {0, 10} }, "y")
local q = m.axis("q", "1/nm")
local rate = m.parameter("rate", { unit = "1/s", start = 1, bounds = {1e-3, 100} })
local A = m.parameter("A", { start = 1, linear = true, over = q })
m.observe(y, { mean = A * exp(-rate * t) })
m.derived("half_life", math.log(2) / rate)
m.derived("area", A / rate)
""")
        try:
            m = hg.load_model(own)
        except hg.UsageError as error:
            if "C compiler" not in str(error):
                raise
            self.skipTest(f"no C compiler: {error}")
        t, q = np.tile(np.linspace(0, 4, 50), 2), np.repeat([1.0, 2.0], 50)
        y = q * np.exp(-0.7 * t) + 0.01 * np.sin(97 * np.arange(100) ** 1.7)
        r = m.fit(y, t=t, q=q)
        rate, std = r.params["rate"], r.std["rate"]
        self.assertAlmostEqual(r.derived["half_life"], np.log(2) / rate, delta=1e-14)
        self.assertAlmostEqual(r.derived_std["half_life"], np.log(2) / rate ** 2 * std, delta=1e-12)
        self.assertEqual(r.derived_units["area"], "s")
        self.assertEqual(r.derived_interval_95["half_life"].shape, (2,))
        self.assertEqual(r.derived_interval_95["area"].shape, (2, 2))
        C, g = r.covariance, np.array([-r.params["A"][1] / rate ** 2, 0, 1 / rate])
        self.assertAlmostEqual(r.derived_std["area"][1], np.sqrt(g @ C @ g), delta=1e-12)
        self.assertIn("half_life", repr(r))
        d = m.sample(y, t=t, q=q, draws=200, warmup=200, chains=2, seed=3)
        np.testing.assert_allclose(d["half_life"], np.log(2) / d["rate"], rtol=1e-14)
        np.testing.assert_allclose(d["area"], d["A"] / d["rate"][..., None], rtol=1e-14)
        self.assertEqual(d["sigma"].shape, (2, 200, 2))
        self.assertGreater(d.summary["half_life"]["ess_bulk"], 20)

    def test_mistakes_are_told(self):
        with self.assertRaises(hg.FileError):
            hg.load_model("/nowhere/my.lua")
        bad = pathlib.Path(self.cache.name) / "bad.lua"
        bad.write_text('local m = model "bad" { title = "x" }\nm.observ()\n')
        with self.assertRaises(hg.UsageError) as caught:
            hg.load_model(bad)
        self.assertIn("bad.lua", str(caught.exception))
        os.environ["CC"] = "no-such-compiler"
        self.addCleanup(os.environ.pop, "CC")
        with self.assertRaises(hg.UsageError) as caught:
            hg.load_model(SOURCE / "models/kww.lua")
        self.assertIn("needs a C compiler", str(caught.exception))


class LawsOfErrors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        rng = np.random.default_rng(1)
        cls.m, cls.T = hg.load_model("speckle_counts"), np.repeat(np.logspace(-1.5, 0.3, 20), 20)
        cls.n = rng.poisson(rng.gamma(2, 10 * cls.T / 2))
        cls.d = cls.m.sample(cls.n, T=cls.T, fix={"tau": 30.0}, draws=200, chains=2, seed=1)

    def test_log_likelihood_of_rows(self):
        d = self.d
        self.assertEqual(d.log_likelihood.shape, (2, 200, 400))
        self.assertEqual(d.predictive.shape, (2, 200, 400))
        # the largest is near that of the fit: half of chi2 of two parameters below it
        self.assertLess(abs(d.log_likelihood.sum(-1).max() - d.fit.log_likelihood), 1)
        self.assertLessEqual(d.log_likelihood.sum(-1).max(), d.fit.log_likelihood + 1e-9)
        self.assertLess(abs(d.predictive.mean() / self.n.mean() - 1), 0.2)
        idata = d.to_inferencedata()
        for group, values in (("log_likelihood", d.log_likelihood), ("posterior_predictive", d.predictive)):
            np.testing.assert_array_equal(np.asarray(idata[group]["n"]), values)
        self.assertNotIn("sigma", d.draws)
        if arviz:
            self.assertLess(abs(float(arviz.loo(idata).iloc[0]) / d.fit.log_likelihood - 1), 0.1)

    def test_what_is_held_is_no_draw(self):
        idata = self.d.to_inferencedata()
        self.assertEqual(set(plain(idata["posterior"])), {"rate", "contrast"})
        self.assertEqual(np.ravel(idata["constant_data"]["tau"]).tolist(), [30])

    def test_words(self):
        f = self.d.fit
        self.assertEqual(f.law, "negative_binomial")
        self.assertIn(f"log likelihood {f.log_likelihood:.6g}", repr(f))
        self.assertIn("30 s (held)", repr(f))
        self.assertNotIn(", noise ", repr(f))
        self.assertIn(f"{f.quality}: {f.quality_text}", repr(f))
        worse = min(self.d.summary["rate"][key] for key in ("ess_bulk", "ess_tail"))
        self.assertRegex(repr(self.d), rf"rate .* {worse:.0f}  photon/s")


class LawOverAnAxis(unittest.TestCase):
    """Parameters over an axis are arrays that know their coordinates, nonlinear ones under a law as well."""

    @classmethod
    def setUpClass(cls):
        cache = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cache.cleanup)
        with unittest.mock.patch.dict(os.environ, {"XDG_CACHE_HOME": cache.name}):
            try:
                cls.m = hg.load_model(SOURCE / "models/laws/detector_groups.lua")
            except hg.UsageError as error:
                if "C compiler" not in str(error):
                    raise
                raise unittest.SkipTest(f"no C compiler: {error}") from error
        cls.grid = {"detector": np.repeat([3.0, 1.0, 2.0], 40), "E": np.tile(np.linspace(5, 11, 40), 3),
                    "trials": np.full(120, 30.0)}
        cls.level = {1.0: -1.0, 2.0: 0.2, 3.0: 1.0}
        mean = cls.m.mean({"level": cls.level, "slope": 3}, **cls.grid)
        cls.k = np.random.default_rng(1).binomial(30, mean / 30).astype(float)
        cls.r = cls.m.fit(cls.k, **cls.grid)

    def test_each_group_is_computed_with_its_own(self):
        mean = self.m.mean({"level": self.level}, **self.grid)
        for detector, level in self.level.items():
            rows = self.grid["detector"] == detector
            np.testing.assert_array_equal(mean[rows], self.m.mean({"level": level}, **self.grid)[rows])
        first = self.m.mean({"level": [1.0, -1.0, 0.2]}, **self.grid)  # a plain array: as the groups occur
        np.testing.assert_array_equal(first, mean)
        self.assertEqual(self.m.jacobian({"level": self.level}, **self.grid).shape, (120, 4))

    def test_results_of_groups(self):
        level = self.r.params["level"]
        self.assertEqual(level.coords["detector"].tolist(), [3, 1, 2])
        self.assertEqual(list(self.r.params), ["mu", "spread", "level", "slope"])
        for value, error, detector in zip(level, self.r.std["level"], (3, 1, 2)):
            self.assertLess(abs(value - self.level[detector]), 4 * error)
        np.testing.assert_array_equal(level, self.r.group_params["level"])
        np.testing.assert_array_equal(self.r.mean(), self.m.mean(self.r.params, **self.grid))

    def test_draws_of_groups(self):
        d = self.m.sample(self.k, draws=50, chains=2, progress=False, **self.grid)
        self.assertEqual(d["level"].shape, (2, 50, 3))
        self.assertIn("level[2]", d.summary)

    def test_one_number_where_there_are_no_groups(self):
        with self.assertRaisesRegex(hg.DataError, r"slope: shape \(3,\); \(\) would be right"):
            self.m.mean({"slope": [1, 2, 3]}, **self.grid)
        with self.assertRaisesRegex(hg.DataError, "level: has no value at detector 3"):
            self.m.mean({"level": {1: 0, 2: 0}}, **self.grid)


class Words(unittest.TestCase):
    def test_values_with_errors_as_the_programs_write_them(self):  # tests/unit/test_results.c
        from homodyne_gen._numbers import value_text, with_error
        for value, error, text in ((1998.34, 21.2, "1998 21"), (-0.30123, 0.0041, "-0.3012 0.0041"),
                                   (0.0040024, 2.4e-5, "0.004002 0.000024"), (5, 0.13, "5.00 0.13"),
                                   (1234, 5678, "1234 5678"), (0, 0.02, "0.000 0.020"), (-0.3, 21, "0 21"),
                                   (1.23456789e-7, 2e-10, "1.2346e-07 2.0e-10"), (3.21e9, 1.5e7, "3.210e+09 1.5e+07"),
                                   (1998.3456789, math.nan, "1998.35 "), (100, 0, "100 "), (math.nan, 1, "nan ")):
            self.assertEqual(" ".join(with_error(value, error)), text)
        nan = (math.nan, math.nan)
        self.assertEqual(value_text(14, 0, nan, "Pa"), "14 Pa (held)")
        self.assertEqual(value_text(200, math.nan, nan, "1/s", True), "200 1/s (on a bound)")
        self.assertEqual(value_text(3, math.nan, nan), "3 (undetermined)")
        self.assertEqual(value_text(3, math.nan, (math.nan, 4), "s"), "3 s (below 4, 95 %)")
        self.assertEqual(value_text(3, 0.5, nan, "s"), "3.00 +- 0.50 s")


class Notebooks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        Fits.make()

    def test_tables(self):
        for thing in (Fits.m, Fits.r):
            text = thing._repr_html_()
            self.assertEqual(text.count("<tr>"), text.count("</tr>"))
            self.assertIn("gamma_dot_t0", text)

    def test_line_of_progress(self):
        from homodyne_gen._notebook import Line, progress_line
        line = Line(io.StringIO())
        line.last = -10
        line(types.SimpleNamespace(phase=b"sampling", done=25.0, total=100.0, value=0.0, seconds=3.0))
        self.assertIn("25 %, 0 divergences, 9 s left", line.stream.getvalue())
        line(None)
        self.assertTrue(line.stream.getvalue().endswith("\r"))
        self.assertIsNone(progress_line(False))


class OfThePrograms(unittest.TestCase):
    def test_fit_json(self):
        r = hg.load_results(RESULTS / "fit.json")
        with open(RESULTS / "fit.json") as f:
            told = json.load(f)
        self.assertTrue(r.converged)
        self.assertEqual(r.params["D0"], told["parameters"]["D0"]["value"])
        self.assertEqual(r.std["alpha"], told["parameters"]["alpha"]["std"])
        self.assertEqual(r.std["D0"], told["parameters"]["D0"]["std"])
        self.assertEqual(list(r.interval_95["D0"]), told["parameters"]["D0"]["interval_95"])
        np.testing.assert_array_equal(r.params["contrast"], [g["contrast"] for g in told["scaling"]])
        self.assertEqual(r.coords["phi"].size, 5)
        np.testing.assert_array_equal(r.params["contrast"].coords["phi"], r.coords["phi"])
        self.assertIn("D0", repr(r))

    @unittest.skipUnless(h5py, "no h5py")
    def test_fit_h5_agrees_with_fit_json(self):
        j, h = hg.load_results(RESULTS), hg.load_results(RESULTS / "fit.h5")
        for ours, theirs in ((h.params, j.params), (h.std, j.std), (h.std_robust, j.std_robust)):
            self.assertEqual(set(ours), set(theirs))
            for name in ours:
                np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-14, err_msg=name)
        self.assertEqual(j.covariance.shape, (17, 17))
        self.assertEqual((h.status, h.converged, h.model), (j.status, j.converged, j.model))
        self.assertEqual((h.quality, h.quality_text), (j.quality, j.quality_text))
        np.testing.assert_array_equal(h.coords["phi"], j.coords["phi"])

    @unittest.skipUnless(h5py, "no h5py")
    def test_posterior(self):
        p = hg.load_posterior(RESULTS)["posterior"]
        with open(RESULTS / "fit.json") as f:
            told = json.load(f)["posterior"]["parameters"]
        self.assertAlmostEqual(float(np.mean(p["D0"])) / told["D0"]["mean"], 1, delta=1e-12)
        same = hg.load_results(RESULTS).to_inferencedata()["posterior"]
        np.testing.assert_array_equal(np.asarray(same["D0"]), np.asarray(p["D0"]))

    @unittest.skipUnless(h5py, "no h5py")
    def test_files_of_two_runs_are_no_result(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            told = json.loads((RESULTS / "fit.json").read_text())
            for name in ("fit.h5", "posterior.nc"):
                (folder / name).write_bytes((RESULTS / name).read_bytes())
            (folder / "fit.json").write_text(json.dumps(told))
            self.assertEqual(hg.load_results(folder).arrays["run_id"], told["run_id"])
            hg.load_posterior(folder)
            (folder / "fit.json").write_text(json.dumps({**told, "run_id": "0123456789abcdef"}))
            for name, read in (("fit.h5", lambda: hg.load_results(folder).arrays),
                               ("posterior.nc", lambda: hg.load_posterior(folder))):
                with self.assertRaises(hg.FileError) as why:
                    read()
                self.assertIn(f"fit.json is of run 0123456789abcdef, {name} of run {told['run_id']}",
                              str(why.exception))
            kept = {**told, "run_id": "0123456789abcdef", "kept_files": ["posterior.nc"]}
            (folder / "fit.json").write_text(json.dumps(kept))
            hg.load_posterior(folder)

    @unittest.skipUnless(h5py, "no h5py")
    def test_arrays_are_fitted_as_the_program_fits_the_file(self):
        with h5py.File(SOURCE / "examples/laminar/experiment.h5") as f:
            maps = f["xpcs/twotime/correlation_map"]
            half = np.array([maps[k][()] for k in sorted(maps)])
        theirs = hg.load_results(RESULTS)
        m = hg.load_model("laminar")
        r = m.fit(np.triu(half, 1), dt=0.1, q=0.0054, gap=2e6, phi=theirs.coords["phi"], seed=42)
        for name, value in theirs.params.items():  # the same code on the same numbers: all but rounding of phi
            off = (np.asarray(r.params[name]) - value) / r.std_curvature[name]  # std: not where it is no paraboloid
            self.assertLess(np.abs(off).max(), 1e-5, name)

    def test_files_are_read_as_arrays(self):
        d = hg.load_data(SOURCE / "tests/data/nxxpcs_entry.h5")
        self.assertEqual((d.layout, d.values.shape, d.dt), ("nxxpcs", (3, 16, 16), 0.02))
        np.testing.assert_allclose(d.q, [0.005, 0.005, 0.008])
        np.testing.assert_array_equal(d.phi, [0, 45, 90])
        np.testing.assert_array_equal(d.values, d.values.transpose(0, 2, 1))
        self.assertEqual(d.values[1, 2, 3], 1 + 1 / 8 + 2 / 256 + 3 / 4096)
        some = hg.load_data(SOURCE / "tests/data/nxxpcs_entry.h5", q=0.005, phi=[45, 0])
        np.testing.assert_array_equal(some.values, d.values[[1, 0]])
        self.assertIn("0.005 .. 0.008 (3) 1/angstrom", repr(d))
        self.assertTrue(any("was converted" in n for n in d.notes))
        cut = hg.load_data(SOURCE / "tests/data/chx.h5", q="0.04 nm^-1", frames=(3, 10))
        self.assertEqual((cut.values.shape, cut.first_frame, cut.time[1]), ((3, 8, 8), 3, 0.01))
        other = hg.load_data(SOURCE / "tests/data/anywhere.h5", dataset="/results/run3/corr4",
                             columns={"q": "/meta/wavevector", "t": "meta/clock"}, units={"q": "nm^-1", "t": "ms"})
        self.assertEqual((other.dt, other.values.shape), (0.5, (6, 16, 16)))
        np.testing.assert_allclose(other.q, [0.004] * 3 + [0.006] * 3)
        t = hg.load_data(SOURCE / "tests/data/boost_multitau.h5", dataset="2")
        self.assertEqual((list(t), len(t["g2"]), t["phi"][0]), (["delay", "g2", "sigma", "q", "phi", "bin"], 6, 120))
        for call, word in ((lambda: hg.load_data("none.h5"), "no such file"),
                           (lambda: hg.load_data(SOURCE / "tests/data/anywhere.h5"), "--dataset PATH"),
                           (lambda: hg.load_data(SOURCE / "tests/data/chx.h5", q=0.2), "0.2"),
                           (lambda: hg.load_data(SOURCE / "tests/data/chx.h5", kind="matrices"), "'pairs' and 'table'"),
                           (lambda: t["tau"], "no column 'tau'")):
            with self.assertRaises((hg.Error, KeyError)) as why:
                call()
            self.assertIn(word, str(why.exception))

    def test_what_was_read_is_fitted(self):
        m, kww = hg.load_model("laminar"), hg.load_model("kww")
        d = hg.load_data(SOURCE / "examples/laminar/experiment.h5")
        theirs = hg.load_results(RESULTS)
        r = m.fit(d, gap="200 um", seed=42)
        for name, value in theirs.params.items():
            off = (np.asarray(r.params[name]) - value) / r.std_curvature[name]
            self.assertLess(np.abs(off).max(), 1e-5, name)
        t = hg.load_data(SOURCE / "tests/data/alv.ASC")
        held = {"beta": 1, "baseline": 1}
        by_name = kww.fit(t["g2"], sigma=t["sigma"], delay=t["delay"], fix=held)
        self.assertEqual(kww.fit(t, fix=held).params, by_name.params)
        self.assertEqual(kww.fit({"delay (ms)": 1000 * t["delay"], "g2": t["g2"], "sigma": t["sigma"]},
                                 fix=held).params["tau"],
                         by_name.params["tau"])
        for call, word in ((lambda: m.fit(t), "is fitted to two-time data"),
                           (lambda: kww.fit(d), "is fitted to a table"),
                           (lambda: kww.fit({"delay": t["delay"]}), "no column 'g2'"),
                           (lambda: kww.fit(t, noise=[1, 2]), "one for each group. An error for each value is sigma="),
                           (lambda: kww.objective(t["g2"], delay=t["delay"]), "sigma= or noise= is missing")):
            with self.assertRaises(hg.Error) as why:
                call()
            self.assertIn(word, str(why.exception))

    def test_a_model_as_a_function_of_a_vector(self):
        m = hg.load_model("laminar")
        values = m.mean(TRUTH, frames=20, **SETUP) + 0.01
        values[0, 3, 5] = np.nan
        o = m.objective(values, noise=0.02, **SETUP)
        self.assertEqual(o.names[-4:], ["contrast[0]", "offset[0]", "contrast[1]", "offset[1]"])
        x = np.array([*(TRUTH[p.name] for p in m.parameters), 0.3, 1, 0.25, 1], dtype=float)
        r = o.residuals(x)
        self.assertEqual(r.size, 2 * 190 - 1)
        np.testing.assert_allclose(r, 0.5, atol=1e-9)
        self.assertAlmostEqual(o.log_density(x), -r.size * (0.125 + math.log(0.02) + 0.5 * math.log(2 * math.pi)), 6)
        self.assertEqual(o.log_density(np.where(np.arange(x.size) == 0, -1e9, x)), -math.inf)
        jac = o.jacobian(x)
        for k in range(x.size):
            step = np.where(np.arange(x.size) == k, 1e-6 * max(abs(x[k]), 1e-3), 0)
            slope = (o.residuals(x + step) - o.residuals(x - step)) / (2 * step[k])
            self.assertLess(np.abs(jac[:, k] - slope).max(), 1e-5 * np.abs(slope).max() + 1e-6, o.names[k])
        kww = hg.load_model("kww")
        t = np.logspace(-2, 0, 30)
        g2 = kww.mean({"tau": 0.3}, delay=t) + np.random.default_rng(4).normal(0, 0.002, 30)
        f, o = kww.fit(g2, sigma=0.002, delay=t), kww.objective(g2, sigma=0.002, delay=t)
        best = np.array([f.params[n] for n in o.names])
        self.assertAlmostEqual((o.residuals(best) ** 2).sum(), f.chi2, 6)
        self.assertAlmostEqual(o.log_density(dict(zip(o.names, best))), o.log_density(best), 12)
        try:
            import lmfit
        except ImportError:
            print("skipped: lmfit")
            return
        self.assertLess(abs(lmfit.minimize(o, o.lmfit_parameters()).params["tau"].value - f.params["tau"]),
                        0.01 * f.std["tau"])

    def test_data_frames_and_pictures(self):
        try:
            import matplotlib.pyplot
            import pandas
        except ImportError as why:
            self.skipTest(str(why))
        matplotlib.use("Agg")
        kww = hg.load_model("kww")
        t = hg.load_data(SOURCE / "tests/data/alv.ASC")
        held = {"beta": 1, "baseline": 1}
        frame = t.to_dataframe()
        f = kww.fit(frame, fix=held)
        self.assertEqual(f.params, kww.fit(t, fix=held).params)
        table = f.to_dataframe()
        self.assertIsInstance(table, pandas.DataFrame)
        self.assertEqual((table.loc["tau", "value"], table.loc["tau", "unit"]), (f.params["tau"], "s"))
        self.assertEqual(len(f.plot().axes), 2)
        self.assertEqual(kww.objective(frame["g2"], noise=0.01, delay=frame["delay"]).ndim, 4)
        d = hg.load_data(SOURCE / "examples/laminar/experiment.h5")
        self.assertGreater(len(d.plot().axes), len(d.values))
        results = hg.load_results(RESULTS)
        self.assertEqual(len(results.to_dataframe()), len(results.values))
        self.assertIn("angstrom^2/s", repr(results))
        if h5py:
            results.plot()
        matplotlib.pyplot.close("all")


if __name__ == "__main__":
    warnings.simplefilter("error", RuntimeWarning)
    unittest.main(argv=sys.argv[:1])
