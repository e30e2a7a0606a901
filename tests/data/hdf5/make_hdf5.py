"""Makes the HDF5 files of tests/e2e/hdf5.sh: the same two-time data, stored in ways that the own reader leaves to
libhdf5, that lead into other files, or that are broken: python3 make_hdf5.py [FOLDER].  Needs h5py and hdf5plugin.
"""
import os
import sys

import h5py
import hdf5plugin
import numpy as np

FRAMES = 24
out = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
os.chdir(out)

lag = np.abs(np.subtract.outer(np.arange(FRAMES), np.arange(FRAMES)))
noise = np.random.default_rng(5).normal(0, 0.01, (3, FRAMES, FRAMES))
c2 = np.round(1 + 0.3 * np.exp(-0.1 * lag) + np.triu(noise, 1) + np.triu(noise, 1).transpose(0, 2, 1), 4).astype("f4")


def new(name, **how):
    h = h5py.File(name, "w", libver=("earliest", "v110"), **how)
    h["t"], h["q"], h["phi"] = 0.1 * np.arange(FRAMES), 0.01, np.array([-30.0, 0, 45])
    return h


def stored(name, values=c2, **how):
    with new(name) as h:
        h.create_dataset("c2", data=values, chunks=(1, FRAMES, FRAMES), **how)


def virtual(name, files, **fill):
    layout = h5py.VirtualLayout((3, FRAMES, FRAMES), "f4")
    layout[:2] = h5py.VirtualSource(files[0], "c2", (2, FRAMES, FRAMES))
    layout[2:] = h5py.VirtualSource(files[1], "c2", (1, FRAMES, FRAMES))
    with new(name) as h:
        h.create_virtual_dataset("c2", layout, **fill)


stored("plain.h5", compression="gzip", shuffle=True)
stored("scaleoffset.h5", scaleoffset=4)
stored("szip.h5", compression="szip")
stored("bitshuffle.h5", **hdf5plugin.Bitshuffle())
stored("bitshuffle_plain.h5", **hdf5plugin.Bitshuffle(cname="none", nelems=64))
stored("bitshuffle_zstd.h5", **hdf5plugin.Bitshuffle(cname="zstd"))
stored("lz4.h5", **hdf5plugin.LZ4(nbytes=1000))
stored("zstd.h5", shuffle=True, **hdf5plugin.Zstd())
stored("blosc.h5", **hdf5plugin.Blosc())
stored("long_double.h5", c2.astype("longdouble"), compression="gzip", shuffle=True)
with new("nbit.h5") as h:
    made = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    made.set_chunk((1, FRAMES, FRAMES))
    made.set_filter(5, h5py.h5z.FLAG_MANDATORY, ())
    d = h5py.h5d.create(h.id, b"c2", h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple(c2.shape), made)
    d.write(h5py.h5s.ALL, h5py.h5s.ALL, c2)

os.makedirs("sources", exist_ok=True)
for k, part in enumerate((c2[:2], c2[2:])):
    with h5py.File(f"sources/part_{k}.h5", "w") as h:
        h.create_dataset("c2", data=part, compression="gzip", shuffle=True, chunks=(1, FRAMES, FRAMES))
with h5py.File("sources/all.h5", "w") as h:
    h.create_dataset("entry/c2", data=c2, compression="gzip", shuffle=True, chunks=(1, FRAMES, FRAMES))
with h5py.File("sources/detector.h5", "w") as h:
    h.create_dataset("c2", data=c2[:2], chunks=(1, FRAMES, FRAMES), **hdf5plugin.Bitshuffle())
virtual("virtual_detector.h5", ("sources/detector.h5", "sources/part_1.h5"))
virtual("virtual.h5", ("sources/part_0.h5", "sources/part_1.h5"))
virtual("virtual_far.h5", ("/no/such/folder/part_0.h5", "/no/such/folder/part_1.h5"))
virtual("virtual_gone.h5", ("sources/part_0.h5", "sources/part_7.h5"))
virtual("virtual_filled.h5", ("sources/part_0.h5", "sources/part_7.h5"), fillvalue=np.nan)
for name, target in (("link", "sources/all.h5"), ("link_gone", "sources/none.h5"), ("link_circle", "link_circle.h5"),
                     ("link_outside", "../aps_legacy.h5")):
    with new(name + ".h5") as h:
        h["c2"] = h5py.ExternalLink(target, "/c2" if name == "link_circle" else "/entry/c2")
with open("plain.h5", "rb") as whole, open("cut.h5", "wb") as cut:
    cut.write(whole.read()[:4000])
