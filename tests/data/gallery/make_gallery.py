#!/usr/bin/env python3
"""make_gallery.py -- data and reference fits of models/gallery, by numpy, scipy and mpmath alone.

    python3 make_gallery.py            writes NAME.csv and NAME.ref: a line "parameter value error" for each
    python3 make_gallery.py --digits   prints test points of 17 digits

Data are drawn about the formula of the model, written here a second time; fits are Gauss and Newton's from scipy's
minimum, with slopes by differences of sixth order: 1e-9 standard deviations from the minimum.
"""
import os
import sys

import numpy as np
from mpmath import mp, mpf
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.optimize import least_squares, nnls, root
from scipy.special import j1, voigt_profile

HERE = os.path.dirname(os.path.abspath(__file__))


def slopes(f, theta):
    """Central differences of sixth order."""
    columns = []
    for k in range(len(theta)):
        h = 2e-3 * max(abs(theta[k]), 1e-3)
        columns.append(sum(w * (f(shift(theta, k, m * h)) - f(shift(theta, k, -m * h)))
                           for m, w in ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60))) / h)
    return np.stack(columns, axis=1)


def shift(theta, k, by):
    out = np.array(theta, dtype=float)
    out[k] += by
    return out


def fit(f, start, y, sigma, steps=30):
    """sigma: an array, or None for Poisson counts (Fisher scoring, whose zero is the maximum of the likelihood)."""
    s = sigma if sigma is not None else np.sqrt(np.maximum(y, 1))
    theta = least_squares(lambda p: (f(p) - y) / s, start, x_scale=np.abs(start) + 1e-3, xtol=1e-14, ftol=1e-14,
                          gtol=1e-14).x
    for _ in range(steps):
        mean, J = f(theta), slopes(f, theta)
        w = 1 / s ** 2 if sigma is not None else 1 / mean
        A = J.T @ (w[:, None] * J)
        step = np.linalg.solve(A, J.T @ (w * (y - mean)))
        theta = theta + step
    return theta, np.sqrt(np.diag(np.linalg.inv(A)))


def write(name, header, columns, parameters=None, result=None):
    with open(os.path.join(HERE, name + ".csv"), "w") as out:
        print(header, file=out)
        for row in zip(*columns):
            print(",".join(repr(float(x)) for x in row), file=out)
    if parameters:
        with open(os.path.join(HERE, name + ".ref"), "w") as out:
            for p, v, e in zip(parameters, *result):
                print(p, repr(float(v)), repr(float(e)), file=out)


def fitted(name, header, columns, f, parameters, truth, y, sigma):
    write(name, header, columns, parameters, fit(f, np.array(truth, dtype=float), y, sigma))


def oscillator(t, p):
    omega, gamma, x0, v0 = p
    root = np.sqrt(complex(omega ** 2 - gamma ** 2))
    return (np.exp(-gamma * t) * (x0 * np.cos(root * t) + (v0 + gamma * x0) * t * np.sinc(root * t / np.pi))).real


def core_shell(q, dq, p):
    """Gauss and Hermite's rules of other sizes than the model's."""
    radius, width, d, shell, scale, background = p
    core, solvent = 4e-4, 6.3e-4
    x, w = np.polynomial.hermite_e.hermegauss(40)
    u, v = np.polynomial.hermite_e.hermegauss(13)
    w, v = w / w.sum(), v / v.sum()
    R = radius * np.exp(width * x)
    k = q[:, None, None] + dq[:, None, None] * u[None, :, None]

    def amplitude(r):
        z = k * r[None, None, :]
        return 4 * np.pi * r ** 3 * (np.sin(z) - z * np.cos(z)) / z ** 3
    F = (core - shell) * amplitude(R) + (shell - solvent) * amplitude(R + d)
    mean = np.einsum("ijk,j,k->i", F ** 2, v, w) / (4 * np.pi / 3 * (R + d) ** 3 @ w)
    return background + scale * 1e7 * mean


def cylinder(q, p):
    """Rules of other sizes than the model's."""
    length, radius, width, scale, background = p
    x, v = np.polynomial.legendre.leggauss(60)
    u, w = np.polynomial.hermite_e.hermegauss(20)
    x, v, w = (x + 1) / 2, v / 2, w / w.sum()
    R = radius * np.exp(width * u)
    b = q[:, None, None] * np.sqrt(1 - x[None, :, None] ** 2) * R[None, None, :]
    F2 = (2 * j1(b) / b * np.pi * R ** 2) ** 2
    along = np.sinc(q[:, None] * length * x[None, :] / 2 / np.pi) ** 2
    squares = np.einsum("ij,ijk,j,k->i", along, F2, v, w)
    return background + scale * 3e-4 ** 2 * 1e7 * length * squares / (np.pi * R ** 2 @ w)


def make():
    rng = np.random.default_rng(21)
    nu = np.linspace(-6, 6, 81)
    f = lambda p: p[4] + p[3] * voigt_profile(nu - p[0], p[1], p[2])
    truth = (0.25, 0.6, 0.4, 600, 8)
    n = rng.poisson(f(truth)).astype(float)
    fitted("voigt_counts", "nu,n", (nu, n), f, ("center", "sigma", "gamma", "area", "background"), truth, n, None)

    t = np.linspace(0.1, 15, 60)
    for name, gamma in (("ringing", 0.2), ("critical", 0.8), ("creeping", 1.5)):
        truth, s = (0.8, gamma, 5, -1), np.full(60, 0.01)
        x = oscillator(t, truth) + s * rng.standard_normal(60)
        fitted("damped_oscillator_" + name, "t,x,s", (t, x, s), lambda p: oscillator(t, p),
               ("omega0", "gamma", "x0", "v0"), truth, x, s)

    S, I = (a.ravel() for a in np.meshgrid([2, 5, 10, 20, 50, 100.0], [0, 2, 5, 10.0]))
    f = lambda p: p[0] * S / (p[1] * (1 + I / p[2]) + S * (1 + I / p[3]))
    truth = (2.4, 12, 3, 15)
    s = 0.02 * np.ones_like(S)
    v = f(truth) + s * rng.standard_normal(S.size)
    fitted("michaelis_menten", "S,I,v,s", (S, I, v, s), f, ("Vmax", "Km", "Kc", "Ku"), truth, v, s)

    q = np.linspace(0.05, 1.2, 80)
    dq = 0.002 + 0.012 * q
    truth = (8, 0.1, 2, 1e-4, 0.01, 0.02)
    ideal = core_shell(q, dq, truth)
    s = 0.02 * ideal + 0.001
    y = ideal + s * rng.standard_normal(80)
    fitted("core_shell_smeared", "q,dq,I,s", (q, dq, y, s), lambda p: core_shell(q, dq, p),
           ("radius", "width", "d", "rho_shell", "scale", "background"), truth, y, s)

    t = np.geomspace(0.01, 100, 80)
    rates = 10 ** (-2 + np.arange(1, 14) / 4)
    s = np.full(80, 0.002)
    y = 0.6 * np.exp(-0.05 * t) + 0.4 * np.exp(-(5 * t) ** 0.8) + s * rng.standard_normal(80)
    A = np.exp(-np.outer(t, rates)) / s[:, None]
    a, _ = nnls(A, y / s)
    free = a > 0
    error = np.zeros(13)
    error[free] = np.sqrt(np.diag(np.linalg.inv(A[:, free].T @ A[:, free])))
    a[free] = np.linalg.lstsq(A[:, free], y / s, rcond=None)[0]
    write("rate_spectrum", "t,y,s", (t, y, s), [f"a{k}" for k in range(1, 14)], (a, error))

    q = np.geomspace(0.02, 1, 60)
    truth = (35, 4.5, 0.12, 0.012, 0.02)
    ideal = cylinder(q, truth)
    s = 0.01 * ideal + 0.0005
    y = ideal + s * rng.standard_normal(60)
    fitted("cylinder_sizes", "q,I,s", (q, y, s), lambda p: cylinder(q, p),
           ("length", "radius", "width", "scale", "background"), truth, y, s)


def havriliak_negami(omega, p):
    """Storage, then loss; the conductivity in pS/m."""
    delta_eps, eps_inf, sigma_dc, tau, alpha, beta = p
    eps = eps_inf + delta_eps / (1 + (1j * omega * tau) ** alpha) ** beta + sigma_dc * 1e-12 / (8.8541878188e-12 * omega
        * 1j)
    return np.concatenate([eps.real, -eps.imag])


def robertson(t, p):
    """A, then 10^4 B."""
    k1, k2, k3 = p[0], p[1] * 1e7, p[2] * 1e4

    def rate(_, x):
        first, second, third = k1 * x[0], k2 * x[1] ** 2, k3 * x[1] * x[2]
        return [third - first, first - second - third, second]

    def jacobian(_, x):
        return [[-k1, k3 * x[2], k3 * x[1]], [k1, -2 * k2 * x[1] - k3 * x[2], -k3 * x[1]], [0, 2 * k2 * x[1], 0]]
    x = solve_ivp(rate, (0, t[-1]), [1, 0, 0], "Radau", t_eval=t, jac=jacobian, rtol=1e-12, atol=1e-17,
                  first_step=1e-6).y
    return np.concatenate([x[0], 1e4 * x[1]])


def garch_score(y, p):
    """Gradient of the log likelihood."""
    mu, a0, a1, b1 = p
    v, dv, g = 1.0, np.zeros(4), np.zeros(4)
    for x in y:
        e = x - mu
        g += 0.5 * (e * e / v - 1) / v * dv
        g[0] += e / v
        dv = np.array([-2 * a1 * e, 1, e * e, v]) + b1 * dv
        v = a0 + a1 * e * e + b1 * v
    return g


def make_programs():
    """Of models that are programs; parameters that are very large or small are fitted in other units."""
    rng = np.random.default_rng(22)
    omega = np.geomspace(0.1, 1e6, 50)
    truth = (5, 2.5, 3, 1e-3, 0.8, 0.7)
    f = lambda p: havriliak_negami(omega, p)
    s = 0.01 * np.ones(100)
    y = f(truth) + s * rng.standard_normal(100)
    value, error = fit(f, np.array(truth), y, s)
    value[2], error[2] = value[2] * 1e-12, error[2] * 1e-12
    write("havriliak_negami", "omega,storage,s_storage,loss,s_loss", (omega, y[:50], s[:50], y[50:], s[50:]),
          ("delta_eps", "eps_inf", "sigma_dc", "tau", "alpha", "beta"), (value, error))

    t = np.geomspace(0.01, 1e5, 30)
    truth, s = (0.04, 3, 1), 0.002 * np.ones(60)
    f = lambda p: robertson(t, p)
    y = f(truth) + s * rng.standard_normal(60)
    value, error = fit(f, np.array(truth), y, s, 4)
    unit = np.array([1, 1e7, 1e4])
    write("robertson", "t,a,sa,b,sb", (t, y[:30], s[:30], y[30:], s[30:]), ("k1", "k2", "k3"),
          (value * unit, error * unit))

    mu, a0, a1, b1 = truth = (0.1, 0.2, 0.25, 0.6)
    v, y = 1.0, []
    for z in rng.standard_normal(800):
        y.append(mu + np.sqrt(v) * z)
        v = a0 + a1 * v * z * z + b1 * v
    found = root(lambda p: garch_score(y, p), truth, tol=1e-13)
    error = np.sqrt(np.diag(np.linalg.inv(-slopes(lambda p: garch_score(y, p), found.x))))
    write("garch", "y", (y,), ("mu", "a0", "a1", "b1"), (found.x, error))


def two_exponentials(t, p, dose=25):
    CL, V1, Q, V2 = p
    k10, k12, k21 = CL / V1, Q / V1, Q / V2
    root = np.sqrt((k10 + k12 + k21) ** 2 - 4 * k10 * k21)
    a, b = (k10 + k12 + k21 + root) / 2, (k10 + k12 + k21 - root) / 2
    return dose / V1 * ((a - k21) * np.exp(-a * t) + (k21 - b) * np.exp(-b * t)) / root


def indomethacin():
    """two_compartment.csv is not made here: K. C. Kwan et al., J. Pharmacokinet. Biopharm. 4 (1976) 255, as in R's
    data set Indometh.  One curve for all subjects, errors normal in ln(conc)."""
    _, t, conc = np.loadtxt(os.path.join(HERE, "two_compartment.csv"), delimiter=",", skiprows=1).T
    y, one = np.log(conc), np.ones(len(t))
    theta, error = fit(lambda p: np.log(two_exponentials(t, p)), np.array([8.0, 8, 6, 15]), y, one)
    s = np.sqrt(np.mean((y - np.log(two_exponentials(t, theta))) ** 2))
    with open(os.path.join(HERE, "two_compartment.ref"), "w") as out:
        for name, v, e in zip(("CL", "V1", "Q", "V2", "s"), (*theta, s), (*(s * error), s / np.sqrt(2 * len(t)))):
            print(name, repr(float(v)), repr(float(e)), file=out)


def doses(rows, p, subjects):
    """ln(conc) of the rows that have one, by exponentials of the matrix of rates; p: ka, F, V1, Q, V2, CL of each."""
    ka, F, V1, Q, V2, *CL = p
    out, last = [], None
    for subject, t, amt, cmt, sampled in rows:
        if subject != last:
            x, now, last = np.zeros(3), 0.0, subject
        k = CL[int(subject) - 1]
        x = expm(np.array([[-ka, 0, 0], [ka, -(k + Q) / V1, Q / V2], [0, Q / V1, -Q / V2]]) * (t - now)) @ x
        now = t
        x = x + np.array([F * amt, 0, 0] if cmt == 1 else [0, amt, 0])
        if sampled:
            out.append(np.log(x[1] / V1))
    return np.array(out)


def dose_records():
    """Errors are normal in ln(conc): least squares, and s from what is left."""
    rng = np.random.default_rng(23)
    subjects, rows = 4, []
    for subject in range(1, subjects + 1):
        rows += [(subject, 0.0, 100.0, 1 + subject % 2, 0)]
        rows += [(subject, t, 0.0, 1, 1) for t in (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 11.5)]
        rows += [(subject, 12.0, 80.0, 2 - subject % 2, 0)]
        rows += [(subject, t, 0.0, 1, 1) for t in (12.5, 13.0, 14.0, 18.0, 23.5)]
        rows += [(subject, 24.0, 50.0, 1, 0)] + [(subject, t, 0.0, 1, 1) for t in (25.0, 26.0, 30.0, 40.0)]
    names = ("ka", "F", "V1", "Q", "V2", *(f"CL[{n}]" for n in range(1, subjects + 1)))
    truth = (1.2, 0.7, 20.0, 5.0, 35.0, 4.0, 5.5, 7.0, 5.0)
    f = lambda p: doses(rows, p, subjects)
    ideal = f(truth)
    y = ideal + 0.08 * rng.standard_normal(len(ideal))
    theta, error = fit(f, np.array(truth), y, np.ones(len(y)))
    s = np.sqrt(np.mean((y - f(theta)) ** 2))
    left = iter(np.exp(y))
    with open(os.path.join(HERE, "dose_records.csv"), "w") as out:
        print("subject,t,amt,cmt,conc", file=out)
        for subject, t, amt, cmt, sampled in rows:
            dose = f"{amt!r},{cmt}" if amt else ","
            print(f"{subject},{t!r},{dose},{repr(float(next(left))) if sampled else ''}", file=out)
    with open(os.path.join(HERE, "dose_records.ref"), "w") as out:
        for name, v, e in zip((*names, "s"), (*theta, s), (*(s * error), s / np.sqrt(2 * len(y)))):
            print(name, repr(float(v)), repr(float(e)), file=out)


def digits():
    mp.dps = 40
    m = mpf
    for own_CL, own_V1 in ((0, 0), (m("1.5"), -1)):
        CL, V1, Q, V2 = 8 * mp.exp(m("0.25") * own_CL), 9 * mp.exp(m("0.5") * own_V1), m("5.5"), 16
        k10, k12, k21 = CL / V1, Q / V1, Q / V2
        root = mp.sqrt((k10 + k12 + k21) ** 2 - 4 * k10 * k21)
        a, b = (k10 + k12 + k21 + root) / 2, (k10 + k12 + k21 - root) / 2
        for t in (m("0.25"), m(2), m(8)):
            y = ((a - k21) * mp.exp(-a * t) + (k21 - b) * mp.exp(-b * t)) / root
            print("two_compartment", t, mp.nstr(25 / V1 * y, 18))
    for x, s, g in ((0, m(1) / 2, m(1) / 2), (1.5, m(1) / 4, 1), (-3, 1, m(1) / 32)):
        z = (m(x) + 1j * g) / (s * mp.sqrt(2))
        w = mp.exp(-z ** 2) * mp.erfc(-1j * z)
        print("voigt_counts", x, s, g, mp.nstr(10 + 500 * w.real / (s * mp.sqrt(2 * mp.pi)), 18))
    for omega, gamma, t in ((2, m(1) / 4, 3), (1, 1, 2), (1, m("1.0001"), 2), (1, 3, 5), (m(1) / 2, 9, 20)):
        r = mp.sqrt(mp.mpc(omega ** 2 - gamma ** 2))
        S = mp.sin(r * t) / r if r else m(t)
        x = mp.exp(-gamma * t) * (2 * mp.cos(r * t) + (-1 + 2 * gamma) * S)
        print("damped_oscillator", omega, gamma, t, mp.nstr(mp.re(x), 18))
    print("michaelis_menten", mp.nstr(m("2.4") * 20 / (12 * (1 + m(5) / 3) + 20 * (1 + m(5) / 15)), 18))
    for q, dq in ((m("0.1"), m("0.003")), (m("0.6"), m("0.01"))):
        R0, width, d, shell = 8, m("0.1"), 2, m("1e-4")
        core, solvent = m("4e-4"), m("6.3e-4")

        def amplitude(x, r):
            return 4 * mp.pi * r ** 3 * (mp.sin(x * r) - x * r * mp.cos(x * r)) / (x * r) ** 3

        def normal(u):
            return mp.exp(-u * u / 2) / mp.sqrt(2 * mp.pi)

        def F2(k, u):
            R = R0 * mp.exp(width * u)
            return ((core - shell) * amplitude(k, R) + (shell - solvent) * amplitude(k, R + d)) ** 2
        mp.dps = 22
        grid = [-9, -4.5, 0, 4.5, 9]
        top = mp.quad(lambda a: normal(a) * mp.quad(lambda u: normal(u) * F2(q + dq * a, u), grid), grid)
        V = mp.quad(lambda u: normal(u) * 4 * mp.pi / 3 * (R0 * mp.exp(width * u) + d) ** 3, grid)
        print("core_shell_smeared", q, dq, mp.nstr(m("0.02") + m("0.01") * 10 ** 7 * top / V, 16))
        mp.dps = 40
    mp.dps = 22
    for q in (m(1) / 32, m(1) / 4, m(3) / 4):
        def of_direction(x):
            def f(u):
                R = 4 * mp.exp(u / 8)
                b = q * mp.sqrt(1 - x * x) * R
                return mp.exp(-u * u / 2) / mp.sqrt(2 * mp.pi) * (2 * mp.besselj(1, b) / b * mp.pi * R * R) ** 2
            return mp.sinc(q * 20 * x) ** 2 * mp.quad(f, [-9, 0, 9])
        top, section = mp.quad(of_direction, mp.linspace(0, 1, 5)), 16 * mp.pi * mp.exp(m(1) / 32)
        print("cylinder_sizes", q, mp.nstr(m("0.02") + m("0.01") * m("3e-4") ** 2 * 40 * top / section * 10 ** 7, 16))
    mp.dps = 40
    print("rate_spectrum", mp.nstr(sum(m(k) / 100 * mp.exp(-2 * m(10) ** (-2 + m(k) / 4)) for k in range(1, 14)), 18))
    dt, q2 = m(1), m("0.002") ** 2
    for name, D, n in (("avrami_arrest", lambda s: 10000 * mp.exp(-(max(s, dt / 2) / 10) ** 3), (2, 12)),
                       ("two_time_q", lambda s: 1000 * max(s, dt / 2) ** m("0.5"), (2, 12))):
        J = sum((D(m(k)) + D(m(k + 1))) / 2 for k in range(*n))
        print(name, mp.nstr(1 + m("0.2") * mp.exp(-2 * q2 * J), 18))


if __name__ == "__main__":
    if "--digits" in sys.argv:
        digits()
    else:
        make()
        make_programs()
        indomethacin()
        dose_records()
