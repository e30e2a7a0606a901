"""Closed forms of the models of models/events, and their derivatives, by mpmath with 60 digits: NAME.ref, of each row
the time, the value and the derivatives by all parameters in the order of the model.  python3 make_events.py"""
from mpmath import mp, mpf, exp, sqrt, lambertw, diff

mp.dps = 60


def oral_lag(t, ka, k, V, F, lag, dose=150):
    y = mpf(0)
    for n in range(4):
        s = t - 12 * n - lag
        if s >= 0:
            y += F * dose * ka / (V * (ka - k)) * (exp(-k * s) - exp(-ka * s))
    for at in (mpf(20), mpf("30.5")):
        if t >= at:
            y += at / 10 * dose / V * exp(-k * (t - at))
    return y


def infused(t, k10, k12, k21, V, T, dose=100):
    s, p = k10 + k12 + k21, k10 * k21
    root = sqrt(s * s - 4 * p)
    y = mpf(0)
    for rate, part in (((s + root) / 2, 1), ((s - root) / 2, -1)):
        weight = part * (rate - k21) / root
        if t >= 8:
            y += weight * dose / 2 * exp(-rate * (t - 8))
        for begin, sign in ((mpf(1), 1), (1 + T, -1)):
            if t >= begin:
                y += sign * weight * dose / T * (1 - exp(-rate * (t - begin))) / rate
    return y / V


def saturated(t, C0, Vm, Km, part, td):
    def flow(c, s):
        return Km * lambertw(c / Km * exp((c - Vm * s) / Km)).real
    if t < td:
        return flow(C0, t)
    c = (1 - part) * flow(C0, td)
    if t < td + 6:
        return flow(c, t - td)
    return flow((1 - part) * flow(c, mpf(6)), t - td - 6)


cases = {
    oral_lag: (["0.25", "0.5", "2", "11.5", "12.5", "20", "24", "30.25", "31", "40", "48"],
               ["1.25", "0.125", "9", "0.75", "0.375"]),
    infused: (["0.5", "1", "2", "3.75", "5", "8", "9", "24"], ["0.3", "0.55", "0.2", "12", "2.5"]),
    saturated: (["0", "1.5", "3", "8", "9", "12", "24"], ["22", "1.75", "4.5", "0.375", "2.25"]),
}
for f, (times, theta) in cases.items():
    theta = [mpf(x) for x in theta]
    with open(f.__name__ + ".ref", "w") as out:
        out.write(" ".join(mp.nstr(x, 20) for x in theta) + "\n")
        for t in map(mpf, times):
            row = [f(t, *theta)]
            for k in range(len(theta)):
                row.append(diff(lambda x: f(t, *theta[:k], x, *theta[k + 1:]), theta[k], h=mpf(10) ** -25))
            out.write(" ".join(mp.nstr(x, 20) for x in [t] + row) + "\n")
