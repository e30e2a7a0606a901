#!/usr/bin/env python3
"""approximations.py -- makes runtime/include/fit/vmath_coefficients.h: polynomials of functions that have no short
form.

Each is the interpolation of a smooth function of q, -1 <= q <= 1, at Chebyshev points, 40 digits (mpmath), as powers of
q rounded to double.  The error of the truncation, relative to the least value of the function, stands at each.

    python3 build-aux/approximations.py > runtime/include/fit/vmath_coefficients.h
    python3 build-aux/approximations.py gpu > runtime/include/fit/gpu_coefficients.h
"""
import sys

from mpmath import (besseli, besselj, besselk, bessely, cos, erf, erfc, floor, exp, expm1, factorial, hyp1f1, log, mp,
                    mpf, nstr, pi, sin, sqrt)

mp.dps = 60


def coefficients(f, degree, points=64):
    """Powers of q up to `degree` of the Chebyshev interpolation of f, and what is left out."""
    at = [cos(pi * (j + mpf(1) / 2) / points) for j in range(points)]
    value = [f(q) for q in at]
    chebyshev = [2 * sum(value[j] * cos(pi * k * (j + mpf(1) / 2) / points) for j in range(points)) / points
                 for k in range(points)]
    chebyshev[0] /= 2
    rest = sum(abs(c) for c in chebyshev[degree + 1:]) / min(abs(v) for v in value)
    power, before, now = [mpf(0)] * (degree + 1), [mpf(1)], [mpf(0), mpf(1)]
    for k in range(degree + 1):
        t = [mpf(1)] if k == 0 else now
        for n, c in enumerate(t):
            power[n] += chebyshev[k] * c
        if k > 0:
            after = [mpf(0)] + [2 * c for c in now]
            for n, c in enumerate(before):
                after[n] -= c
            before, now = now, after
    return power, rest


def show(name, text, f, degree):
    power, rest = coefficients(f, degree)
    array(name, f"{text}; left out: {nstr(rest, 2)}", power)


def array(name, text, power):
    print(f"/* {text} */")
    print(f"FIT_COEFFICIENTS fit_{name}[{len(power)}] FIT_UNUSED = {{")
    line = "   "
    for c in power:
        word = " " + float(c).hex().replace("0000000000000p", "0p") + ","
        if len(line + word) > 118:
            print(line)
            line = "   "
        line += word
    print(line.rstrip(",") + "};\n")


def mapped(g, middle):
    """g of x >= 0 as a function of q = (x - middle)/(x + middle)."""
    return lambda q: g(middle * (1 + q) / (1 - q))


def erfc_integral(k, x):
    """exp(x^2) times the k-th repeated integral of erfc (Abramowitz & Stegun 1965, 7.2.5)."""
    if x > 20:
        ratio, ratios = mpf(0), []
        for j in range(400, -1, -1):
            ratio = 1 / (2 * x + 2 * (j + 1) * ratio)
            ratios.append(ratio)
        result = 2 / sqrt(pi)
        for r in list(reversed(ratios))[:k + 1]:
            result *= r
        return result
    mp.dps += 40
    before, now = 2 / sqrt(pi), exp(x * x) * erfc(x)
    for j in range(1, k + 1):
        before, now = now, (before - 2 * x * now) / (2 * j)
    mp.dps -= 40
    return now


def hankel(n, second):
    """P or Q of Hankel's expansion: J_n = sqrt(2/(pi x)) (P cos c - Q 8/x sin c), as a function of q,
    (8/x)^2 = (1 + q)/2."""
    def f(q):
        x = 8 / sqrt((1 + q) / 2)
        c = x - (2 * n + 1) * pi / 4
        j, y, size = besselj(n, x), bessely(n, x), sqrt(pi * x / 2)
        return size * x / 8 * (y * cos(c) - j * sin(c)) if second else size * (j * cos(c) + y * sin(c))
    return f


def regular_y(n):
    """Y_0, or Y_1/x, without their logarithms and poles: a function of q = x^2/32 - 1, x < 8."""
    def f(q):
        x = 8 * sqrt((1 + q) / 2)
        if n == 0:
            return bessely(0, x) - 2 / pi * log(x) * besselj(0, x)
        return (bessely(1, x) - 2 / pi * (log(x) * besselj(1, x) - 1 / x)) / x
    return f


def regular_k(n):
    """The same of K_0 and K_1/x: a function of q = x^2/2 - 1, x < 2."""
    def f(q):
        x = 2 * sqrt((1 + q) / 2)
        if n == 0:
            return besselk(0, x) + log(x) * besseli(0, x)
        return (besselk(1, x) - log(x) * besseli(1, x) - 1 / x) / x
    return f


def inverse_erf(w):
    """y/x with x = erf(y) = sqrt(1 - exp(-w)), by Halley's iteration (erf'' = -2 y erf')."""
    x = sqrt(-expm1(-w))
    rest = exp(-w) / (1 + x)
    y = sqrt(pi) / 2 * x if w < 3 else sqrt(w - log(1 + w) / 2)
    for _ in range(60):
        step = (rest - erfc(y)) * sqrt(pi) / 2 * exp(y * y)
        step /= 1 + y * step
        y -= step
        if abs(step) < mpf(10) ** -45 * y:
            break
    return y / x


def main():
    print("/* fit/vmath_coefficients.h -- polynomials, made by build-aux/approximations.py; lowest power first.")
    print(" * Part of fit/vmath.h. */\n")
    for k, middle, slope, degree in ((0, 4, 2, 25), (1, 3, 1, 28), (2, 3, 1, 29)):
        show(f"erfcx_{k}", f"(1 + {slope} x)^{k + 1} exp(x^2) i^{k} erfc(x), q = (x - {middle})/(x + {middle})",
             mapped(lambda x: erfc_integral(k, x) * (1 + slope * x) ** (k + 1), mpf(middle)), degree)
    for k, degree in ((1, 17), (2, 17)):
        show(f"exprel_{k}", f"integral of s^{k} exp(s x) over s from 0 to 1, q = 0.8 x",
             lambda q: hyp1f1(k + 1, k + 2, q / mpf("0.8")) / (k + 1), degree)
    for n, degree in ((0, 17), (1, 17)):
        def near(q, n=n):
            x = 8 * sqrt((1 + q) / 2)
            return besselj(n, x) / x ** n
        power, rest = coefficients(near, degree)
        array(f"bessel_{n}", f"J_{n}(x)/x^{n}, x < 8, q = x^2/32 - 1", power)
        show(f"hankel_p{n}", f"P of J_{n}, x > 8, q = 2 (8/x)^2 - 1", hankel(n, False), 14)
        show(f"hankel_q{n}", f"Q x/8 of J_{n}, x > 8, q = 2 (8/x)^2 - 1", hankel(n, True), 15)
    for n in (0, 1):
        pole = " and the pole, over x" if n else ""
        show(f"bessel_y{n}", f"Y_{n} without 2/pi log(x) J_{n}{pole}, x < 8, q = x^2/32 - 1", regular_y(n), 18)
        show(f"bessel_k{n}", f"K_{n} without {'+-'[1 - n]}log(x) I_{n}{pole}, x < 2, q = x^2/2 - 1", regular_k(n), 10)
        show(f"bessel_k{n}_far", f"sqrt(x) exp(x) K_{n}, x > 2, q = 4/x - 1",
             lambda q, n=n: besselk(n, 4 / (1 + q)) * exp(4 / (1 + q)) * sqrt(4 / (1 + q)), 26)
        show(f"bessel_i{n}_far", f"sqrt(x) exp(-x) I_{n}, x > 8, q = 16/x - 1",
             lambda q, n=n: besseli(n, 16 / (1 + q)) * exp(-16 / (1 + q)) * sqrt(16 / (1 + q)), 26)
    show("erfinv_0", "erfinv(x)/x, w = -log(1 - x^2) < 6.25, q = w/3.125 - 1",
         lambda q: inverse_erf((1 + q) * 25 / 8), 25)
    show("erfinv_1", "the same, 2.5 < sqrt w < 4, q = (sqrt(w) - 3.25)/0.75",
         lambda q: inverse_erf((mpf("3.25") + q * 3 / 4) ** 2), 20)
    show("erfinv_2", "the same, 4 < sqrt w < 6.1, q = (sqrt(w) - 5.05)/1.05",
         lambda q: inverse_erf((mpf("5.05") + q * 21 / 20) ** 2), 19)
    array("erfi_series", "2/sqrt(pi)/(k! (2 k + 1)): the power series of erfi(x)/x in x^2",
          [2 / sqrt(pi) / (factorial(k) * (2 * k + 1)) for k in range(34)])
    h = sqrt(pi / 14)
    for name, shift in (("nodes", mpf(0)), ("halves", mpf(1) / 2)):
        array(f"w_at_{name}", f"nodes {'k' if shift == 0 else 'k + 1/2'} times the step sqrt(pi/14)",
              [(k + shift) * h for k in range(14)])
        array(f"w_of_{name}", "weights there: 2 h/pi exp(-t^2), half of it at 0",
              [2 * h / pi * exp(-((k + shift) * h) ** 2) / (2 if k + shift == 0 else 1) for k in range(14)])


def over_x(q):
    """erf(x)/x - 1, q = 2 x^2 - 1."""
    x = sqrt((1 + q) / 2)
    return (erf(x) / x if x else 2 / sqrt(pi)) - 1


def scaled_erfc(low, high):
    """x exp(x^2) erfc(x), 1/x = low + (high - low) (1 + q)/2."""
    return lambda q: erfc_integral(0, 1 / (low + (high - low) * (1 + q) / 2)) / (low + (high - low) * (1 + q) / 2)


def gpu():
    print("/* fit/gpu_coefficients.h -- numbers of fit/gpu_libm.h, made by build-aux/approximations.py gpu; lowest "
          "power")
    print(" * first. */\n")
    power, rest = coefficients(over_x, 13)
    array("erf_near", f"erf(x)/x - 1, x < 1, q = 2 x^2 - 1; left out: {nstr(rest * mpf('0.002'), 1)} of erf(x)/x",
          power)
    for name, low, high, degree in (("half", 1, 2, 20), ("one", "0.5", 1, 20), ("two", "0.03125", "0.5", 27)):
        show(f"erfc_{name}", f"x exp(x^2) erfc(x), {low} < 1/x < {high}, q from -1 to 1",
             scaled_erfc(mpf(low), mpf(high)), degree)
    mp.dps = 500
    word, words = 2 / pi, []
    for _ in range(40):
        word *= 2 ** 32
        words.append(int(floor(word)))
        word -= floor(word)
    mp.dps = 60
    print("/* 2/pi: words of 32 bits behind the point */\nFIT_WORDS fit_two_over_pi[40] FIT_UNUSED = {")
    for k in range(0, 40, 8):
        print("    " + ", ".join(f"0x{w:08x}" for w in words[k:k + 8]) + ("," if k < 32 else "};"))


if __name__ == "__main__":
    gpu() if sys.argv[1:] == ["gpu"] else main()
