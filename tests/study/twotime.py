"""Two-time data by numpy alone: a simulator that shares nothing with the program, for studies of its verdicts and
errors.

Fields of a detector sector have a complex correlation g(s, t) = E e_s conj(e_t), g(t, t) = 1.  A model is what makes g:
    static, laminar, theory, heterodyne    formulas of the program's models (docs/models.md), in their conventions:
                                           times s dt, integrals by trapezoids, dt/2 in the place of t = 0
    two                                    a fraction of the light decays faster: g = x g_fast + (1 - x) g
White noise: c2 = offset + contrast |g|^2 + sigma z.  Speckles: fields of `modes` x `pixels` independent complex
Gaussian processes of exactly this g (by its Cholesky factor), intensities averaged over the modes, photons counted
(counts > 0: Poisson), frames divided by their means over the pixels:
    c2(s, t) = <n_s n_t> / (<n_s> <n_t>),    of contrast 1/modes and offset 1.
"""
import numpy as np

Q, GAP = 0.0054, 2e6  # 1/angstrom, angstrom


def integral(rate, dt):
    return np.r_[0, np.cumsum((rate[1:] + rate[:-1]) / 2)] * dt


def power_law(scale, exponent, offset, t, dt, floor=1e-10):
    return np.maximum(scale * np.maximum(t, dt / 2) ** exponent + offset, floor)


def between(f):
    return f[:, None] - f


def fraction_of(y):
    """Kept within 0 and 1 as the heterodyne model does it."""
    low = np.logaddexp(0, 50 * y) / 50
    rest = np.logaddexp(0, 50 * (1 - low)) / 50
    return 1 - rest, rest


def field(model, p, frames, dt, phi, q=Q, gap=GAP):
    """g of one azimuth, frames x frames."""
    t = np.arange(frames) * dt
    if model == "heterodyne":
        j = [integral(np.full(frames, p["D0_" + of]), dt) for of in ("ref", "sample")]
        slow, fast = (np.exp(-q * q / 2 * abs(between(x))) for x in j)
        f, r = fraction_of(np.full(frames, p["f3"]))
        n = np.sqrt(f * f + r * r)
        psi = q * np.cos(np.radians(phi + p.get("phi0_het", 0))) * between(integral(np.full(frames, p["v0"]), dt))
        return np.outer(r / n, r / n) * slow + np.outer(f / n, f / n) * fast * np.exp(1j * psi)
    diffusion = integral(power_law(p["D0"], p["alpha"], p["D_offset"], t, dt), dt)
    g = np.exp(-q * q / 2 * abs(between(diffusion)))
    if model == "two":
        g = p["x"] * np.exp(-q * q / 2 * p["faster"] * abs(between(diffusion))) + (1 - p["x"]) * g
    if model in ("laminar", "theory"):
        shear = between(integral(power_law(p["gamma_dot_t0"], p["beta"], p["gamma_dot_t_offset"], t, dt), dt))
        x = q * gap / 2 * np.cos(np.radians(p["phi0"] - phi)) * shear
        g = g * (np.sinc(x / np.pi) if model == "theory" else np.sinc(x / np.pi ** 2) ** 2)
    return g


def fields(model, p, frames, dt, angles, factors=None):
    """Of all azimuths; factors: what q is to be multiplied by."""
    return np.array([field(model, p, frames, dt, a, Q * (factors[k] if factors is not None else 1))
                     for k, a in enumerate(angles)])


def means(g, contrast, offset, drift=0.0):
    """c2 without noise: angles x frames x frames.  drift: relative change of the contrast from first to last frame."""
    n = g.shape[-1]
    size = 1 + drift * (np.arange(n) / (n - 1) - 0.5)
    level = np.broadcast_to(np.asarray(contrast, float), len(g))[:, None, None]
    base = np.broadcast_to(np.asarray(offset, float), len(g))[:, None, None]
    return base + level * np.sqrt(np.outer(size, size)) * abs(g) ** 2


def white(mean, sigma, rng):
    upper = np.triu(rng.normal(0, sigma, mean.shape), 1)
    return mean + upper + np.swapaxes(upper, -1, -2)


def speckles(g, modes, pixels, counts, rng):
    """c2 of speckles with fields of correlation g; counts: photons a pixel and frame on average, 0: intensities.
    modes: a number of them, or their parts of the mean intensity."""
    c2 = np.empty(g.shape)
    n = g.shape[-1]
    parts = np.full(modes, 1 / modes) if np.ndim(modes) == 0 else modes
    for k, one in enumerate(g):
        root = np.linalg.cholesky(one + 1e-10 * np.eye(n))
        intensity = np.zeros((n, pixels))
        for part in parts:
            z = rng.normal(size=(2, n, pixels))
            intensity += abs(root @ (z[0] + 1j * z[1])) ** 2 * part / 2
        seen = rng.poisson(counts * intensity) if counts else intensity
        mean = seen.mean(1)
        c2[k] = seen @ seen.T / pixels / np.outer(mean, mean)
    return c2


def decay_frames(g):
    """Frames until |g|^2 has fallen to 1/e in the middle of the measurement, of the slowest azimuth; inf: later."""
    middle = g.shape[-1] // 2
    longest = 0.0
    for one in g:
        fall = abs(one[middle, middle:]) ** 2
        below = np.nonzero(fall < np.exp(-1))[0]
        if not len(below):
            return np.inf
        k = below[0]
        a, b = np.log(fall[k - 1]), np.log(max(fall[k], 1e-300))
        longest = max(longest, k - 1 + (1 + a) / (a - b))
    return longest
