#!/usr/bin/env python3
"""approximations.py -- makes runtime/include/fit/vmath_coefficients.h: polynomials of functions that have no short form.

Each is the interpolation of a smooth function of q, -1 <= q <= 1, at Chebyshev points, 40 digits (mpmath), as powers of
q rounded to double.  The error of the truncation, relative to the least value of the function, stands at each.

    python3 build-aux/approximations.py > runtime/include/fit/vmath_coefficients.h
"""
from mpmath import besselj, bessely, cos, erfc, exp, hyp1f1, mp, mpf, nstr, pi, sin, sqrt

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
    print(f"static const double fit_{name}[{len(power)}] __attribute__((unused)) = {{")
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
    """P or Q of Hankel's expansion: J_n = sqrt(2/(pi x)) (P cos c - Q 8/x sin c), as a function of q, (8/x)^2 = (1 + q)/2."""
    def f(q):
        x = 8 / sqrt((1 + q) / 2)
        c = x - (2 * n + 1) * pi / 4
        j, y, size = besselj(n, x), bessely(n, x), sqrt(pi * x / 2)
        return size * x / 8 * (y * cos(c) - j * sin(c)) if second else size * (j * cos(c) + y * sin(c))
    return f


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
    h = sqrt(pi / 14)
    for name, shift in (("nodes", mpf(0)), ("halves", mpf(1) / 2)):
        array(f"w_at_{name}", f"nodes {'k' if shift == 0 else 'k + 1/2'} times the step sqrt(pi/14)",
              [(k + shift) * h for k in range(14)])
        array(f"w_of_{name}", "weights there: 2 h/pi exp(-t^2), half of it at 0",
              [2 * h / pi * exp(-((k + shift) * h) ** 2) / (2 if k + shift == 0 else 1) for k in range(14)])


if __name__ == "__main__":
    main()
