"""Simulated observations with their truth (numpy, h5py), for tests/e2e/imaging_polarised.sh.

    python3 tests/data/imaging/make_images.py        writes polarised.h5 and spectrum.h5 beside itself

polarised.h5  /obs: 400 points (u, v) within 1/(22 uas), Stokes I, Q, U, V with noise of 3 mJy; /truth, /truth_q,
              /truth_u, /truth_v, 16 x 16: a ring of 1 Jy, polarised by 30 % along its radius, and 10 % circularly on
              one side; /start, /start_q ..: a Gaussian with a little of both
spectrum.h5   /ch1 /ch2 /ch3: 200 of these points at 86, 230 and 345 GHz, 2 mJy; /image, /alpha: at 189.7 GHz, two
              Gaussians of spectral index -1 and 0.5; /start
"""
import os

import h5py
import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
UAS = 3.141592653589 / 180 / 3600e6
NX, FOV = 16, 160 * UAS
PIXEL = FOV / NX
at = ((NX - 1) / 2 - np.arange(NX)) * PIXEL
X, Y = np.tile(at, (NX, 1)), np.tile(at[:, None], (1, NX))
rng = np.random.default_rng(20)
length, angle = np.sqrt(rng.random(400)) / (22 * UAS), 2 * np.pi * rng.random(400)
u, v = length * np.cos(angle), length * np.sin(angle)


def gaussian(flux, fwhm, x0, y0):
    e = np.exp(-4 * np.log(2) * ((X - x0 * UAS) ** 2 + (Y - y0 * UAS) ** 2) / (fwhm * UAS) ** 2)
    return flux * e / e.sum()


def visibilities(image, u, v):
    pulse = (np.sinc(PIXEL * u) * np.sinc(PIXEL * v)) ** 2
    return pulse * np.einsum("vc,vr,rc->v", np.exp(2j * np.pi * np.outer(u, at)), np.exp(2j * np.pi * np.outer(v, at)),
                             image)


def put(group, prefix, image, u, v, sigma):
    z = visibilities(image, u, v) + sigma * (rng.standard_normal(len(u)) + 1j * rng.standard_normal(len(u)))
    group[prefix + "vis_re"], group[prefix + "vis_im"] = z.real, z.imag
    group[prefix + "sigma"] = np.full(len(u), sigma)


def put_image(f, name, image):
    f[name] = image
    f[name].attrs["psize"] = PIXEL


def polarised():
    r, phi = np.hypot(X, Y), np.arctan2(X, Y)
    ring = np.exp(-(((r / UAS - 40) / 15) ** 2)) * (1 + 0.4 * np.cos(phi)) + 1e-3
    i = ring / ring.sum()
    truth = {"": i, "_q": 0.3 * i * np.cos(2 * phi), "_u": 0.3 * i * np.sin(2 * phi),
             "_v": 0.05 * i * (1 + np.sin(phi))}
    start = gaussian(1, 90, 0, 0) + 1e-6
    with h5py.File(os.path.join(here, "polarised.h5"), "w") as f:
        obs = f.create_group("obs")
        obs["u"], obs["v"] = u, v
        for suffix, image in truth.items():
            put(obs, suffix[1:], image, u, v, 3e-3)
            put_image(f, "truth" + suffix, image)
        for suffix, part in (("", 1), ("_q", 0.1), ("_u", 0.05), ("_v", 0.02)):
            put_image(f, "start" + suffix, part * start)


def spectrum():
    one, two = gaussian(0.6, 45, 25, 15), gaussian(0.4, 40, -30, -20)
    i = one + two + 1e-6
    alpha = (-one + 0.5 * two) / i
    frequency = np.array([86e9, 230e9, 345e9])
    reference = np.exp(np.log(frequency).mean())
    with h5py.File(os.path.join(here, "spectrum.h5"), "w") as f:
        for k, nu in enumerate(frequency):
            ch = f.create_group("ch%d" % (k + 1))
            ch.attrs["rf"] = nu
            ch["u"], ch["v"] = u[k % 2 :: 2], v[k % 2 :: 2]
            put(ch, "", i * np.exp(alpha * np.log(nu / reference)), ch["u"][...], ch["v"][...], 2e-3)
        put_image(f, "image", i)
        put_image(f, "alpha", alpha)
        put_image(f, "start", gaussian(1, 80, 0, 0) + 1e-6)


if __name__ == "__main__":
    polarised()
    spectrum()
