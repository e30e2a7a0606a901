#!/usr/bin/env python3
"""Seeds of the target hdf5: one small file for each way in which the format keeps things.

    make_seeds.py corpus/hdf5          needs h5py
"""
import os
import sys

import h5py
import numpy as np

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
x = np.linspace(1, 2, 24)


def make(name, version, **kw):
    return h5py.File(os.path.join(folder, name), "w", libver=version, **kw)


for name, version in (("old", "earliest"), ("middle", ("v108", "v108")), ("new", ("v110", "v110"))):
    with make(name + "_chunks", version) as f:           # every index of chunks
        f.create_dataset("gzip", data=x.reshape(4, 6), chunks=(2, 3), compression="gzip", shuffle=True)
        f.create_dataset("lzf", data=x, chunks=(24,), compression="lzf", fletcher32=True)
        f.create_dataset("grows", data=x, chunks=(1,), maxshape=(None,))
        f.create_dataset("all", data=x.reshape(4, 6), chunks=(2, 2), maxshape=(None, None))
        f.create_dataset("empty", shape=(4, 4), dtype="f4", chunks=(2, 2), fillvalue=3.0)
    if name == "new":                                    # the rest is as before
        continue
    with make(name, version) as f:                       # groups, links, attributes, texts
        g = f.create_group("g")
        g["x"] = x.astype(">f4")
        g["n"] = np.arange(3, dtype="i2")
        f["soft"] = h5py.SoftLink("/g/x")
        f["away"] = h5py.ExternalLink("other.h5", "/x")
        f["names"] = np.array(["q", "phi"], dtype=h5py.string_dtype())
        f["fixed"] = np.array([b"abc", b"de"])
        f.attrs["unit"] = "1/s"
        g.attrs["v"] = [1.5, 2]
    with make(name + "_many", version, track_order=True) as f:      # heaps of links and attributes
        for k in range(12):
            f[f"d{k}"] = float(k)
            f.attrs[f"a{k}"] = k
