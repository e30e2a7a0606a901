"""Samples of FITS files by another writer (astropy 8.0), for tests/unit/imaging/test_imaging_fits.c.

    python3 tests/data/imaging/make_samples.py          writes circular.uvfits, linear.uvfits, beam.fits beside itself,
                                                     and tests/fuzz/corpus/fits

circular.uvfits  the rows of golden_eht.h5 at 20.0 h and 20.5 h, RR LL RL LR, 32 bits: Q = 0.2 I, U = -0.1 I, V = 0.05
                 I; sigma of Q is that of I; one LL is flagged, one group is all flagged, one is of a station with
                 itself
linear.uvfits    20.0 h, XX YY XY YX, 64 bits, two IFs of two channels with weights 1 3 / 2 2 of all, ANTENNA1 ANTENNA2
beam.fits        6 x 5 pixels in JY/BEAM, declination and right ascension both against the usual direction, 4 axes
"""
import os

import h5py
import numpy as np
from astropy.io import fits

here = os.path.dirname(os.path.abspath(__file__))
RF = 230e9
h = h5py.File(os.path.join(here, "golden_eht.h5"))["obs"]
time, u, v, sigma, t1, t2 = (h[k][...] for k in ("time", "u", "v", "sigma", "t1", "t2"))
vis = h["vis_re"][...] + 1j * h["vis_im"][...]
sites = h.attrs["sites"].split(",")


def correlations(i, linear):
    q, w, x = 0.2 * i, -0.1 * i, 0.05 * i
    if linear:
        return i + q, i - q, w + 1j * x, w - 1j * x
    return i + x, i - x, q + 1j * w, q - 1j * w


def axes(head, base):
    for k, (kind, value, by) in enumerate(
        [("COMPLEX", 1, 1), ("STOKES", base, -1), ("FREQ", RF, 1e9), ("IF", 1, 1), ("RA", 17.761 * 15, 1),
         ("DEC", -29, 1)], 2
    ):
        head["CTYPE%d" % k], head["CRVAL%d" % k], head["CDELT%d" % k], head["CRPIX%d" % k] = kind, value, by, 1
    head["OBJECT"] = "SGRA"


def antennas(order):
    """Stations in another order than the table of golden_eht.h5; numbers begin with 1."""
    table = fits.BinTableHDU.from_columns(
        [
            fits.Column("ANNAME", "8A", array=[sites[k] for k in order]),
            fits.Column("STABXYZ", "3D", "METERS", array=[[1e6 * k, 2.5, -3] for k in order]),
            fits.Column("NOSTA", "1J", array=np.arange(1, len(order) + 1)),
        ]
    )
    table.name = "AIPS AN"
    for key, value in (("ARRAYX", 0.0), ("ARRAYY", 0.0), ("ARRAYZ", 1.0), ("FREQ", RF)):
        table.header[key] = value
    return table


def frequencies(offsets, width):
    n = len(offsets)
    table = fits.BinTableHDU.from_columns(
        [
            fits.Column("FRQSEL", "1J", array=[1]),
            fits.Column("IF FREQ", "%dD" % n, "HZ", array=[offsets]),
            fits.Column("CH WIDTH", "%dE" % n, "HZ", array=[[width] * n]),
            fits.Column("TOTAL BANDWIDTH", "%dE" % n, "HZ", array=[[width] * n]),
        ]
    )
    table.name = "AIPS FQ"
    return table


def write(name, first, base, tables, folder=here):
    head = fits.GroupsHDU(first)
    axes(head.header, base)
    fits.HDUList([head, *tables]).writeto(os.path.join(folder, name), overwrite=True)


def circular():
    rows = np.flatnonzero((time == 20.0) | (time == 20.5))
    order = [7, 6, 5, 4, 3, 2, 1, 0]
    number = {s: k + 1 for k, s in enumerate(order)}
    n = len(rows) + 2
    data = np.zeros((n, 1, 1, 1, 1, 4, 3))
    par = {k: np.zeros(n) for k in ("u", "v", "b", "d", "e", "t")}
    for j, r in enumerate([*rows, rows[0], rows[0]]):
        for k, c in enumerate(correlations(vis[r], 0)):
            data[j, 0, 0, 0, 0, k] = c.real, c.imag, 1 / (2 * sigma[r] ** 2)
        a, b = number[t1[r]], number[t2[r]]
        par["u"][j], par["v"][j], par["b"][j], par["t"][j] = u[r] / RF, v[r] / RF, 256 * a + b, 5
        par["d"][j], par["e"][j] = 51544 + 2400000.5, time[r] / 24
    data[1, ..., 1, 2] = 0  # LL of the second row
    data[n - 2, ..., 2] = -1  # flagged
    par["b"][n - 1] = 257 * 3
    g = fits.GroupData(
        data,
        bitpix=-32,
        parnames=["UU---SIN", "VV---SIN", "BASELINE", "DATE", "DATE", "INTTIM"],
        pardata=[par[k] for k in ("u", "v", "b", "d", "e", "t")],
        parbscales=[1] * 6,
        parbzeros=[0, 0, 0, 51544 + 2400000.5, 0, 0],
    )
    write("circular.uvfits", g, -1, [antennas(order), frequencies([0.0], 4e9)])


def linear():
    rows = np.flatnonzero(time == 20.0)
    n = len(rows)
    data = np.zeros((n, 1, 1, 2, 2, 4, 3))  # DEC RA IF FREQ STOKES COMPLEX
    weight = np.array([[1, 3], [2, 2]]) / 8
    error = np.array([[3, -1], [1, -1]]) * 0.01  # adds to 0 with the weights
    for j, r in enumerate(rows):
        for k, c in enumerate(correlations(vis[r], 1)):
            for i in range(2):
                for f in range(2):
                    x = c + error[i, f]
                    data[j, 0, 0, i, f, k] = x.real, x.imag, weight[i, f] / (2 * sigma[r] ** 2)
    middle = RF + 0.5e9 + 1e9
    g = fits.GroupData(
        data,
        bitpix=-64,
        parnames=["UU", "VV", "ANTENNA1", "ANTENNA2", "DATE"],
        pardata=[u[rows] / middle, v[rows] / middle, t1[rows] + 1, t2[rows] + 1, 2400000.5 + 51544 + time[rows] / 24],
    )
    write("linear.uvfits", g, -5, [antennas(range(8)), frequencies([0.0, 2e9], 1e9)])


def seeds():
    """Small files for tests/fuzz/corpus/fits."""
    corpus = os.path.join(here, "../../fuzz/corpus/fits")
    os.makedirs(corpus, exist_ok=True)
    names = ["UU", "VV", "BASELINE", "DATE"]
    data = np.ones((3, 1, 1, 2, 1, 4, 3))
    values = [[1e-3, 2e-3, 3e-3], [1e-3, -2e-3, 3e-3], [258, 259, 515], [2451545.0] * 3]
    for name, bitpix, tables in (("uv32", -32, [antennas(range(3))]),
                                 ("uv64", -64, [antennas(range(3)), frequencies([0.0, 2e9], 1e9)])):
        write(name, fits.GroupData(data, bitpix=bitpix, parnames=names, pardata=values), -1, tables, corpus)
    planes = [fits.PrimaryHDU(np.ones((3, 4))), fits.ImageHDU(np.ones((3, 4), dtype=">i2"))]
    for letter, plane in zip("IQ", planes):
        plane.header["STOKES"], plane.header["CDELT1"], plane.header["CDELT2"] = letter, -1e-9, 1e-9
    fits.HDUList(planes).writeto(os.path.join(corpus, "planes"), overwrite=True)


def beam():
    image = np.arange(30.0).reshape(1, 1, 5, 6)
    hdu = fits.PrimaryHDU(image.astype(">f4"))
    for key, value in (
        ("CTYPE1", "RA---SIN"), ("CTYPE2", "DEC--SIN"), ("CTYPE3", "FREQ"), ("CTYPE4", "STOKES"),
        ("CDELT1", 1e-9), ("CDELT2", -1e-9), ("CDELT3", 1.0), ("CDELT4", 1.0), ("CRVAL1", 187.5), ("CRVAL2", 12.5),
        ("CRVAL3", 345e9), ("CRVAL4", 1.0), ("CRPIX3", 1.0), ("CRPIX4", 1.0), ("BUNIT", "Jy/beam"), ("BMAJ", 4e-9),
        ("BMIN", 3e-9), ("OBJECT", "M87's"), ("MJD-OBS", 57850.0),
    ):
        hdu.header[key] = value
    hdu.writeto(os.path.join(here, "beam.fits"), overwrite=True)


if __name__ == "__main__":
    circular()
    linear()
    beam()
    seeds()
    seeds()
