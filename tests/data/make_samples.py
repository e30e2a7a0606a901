"""Makes the small data files of tests/unit/test_source.c and test_npz.c with the writers that users have
(numpy, h5py): python3 make_samples.py [FOLDER].  The files are kept beside this script; values are those of
value() below, so that the tests know them.
"""
import json
import os
import sys

import h5py
import numpy as np

N = 16
out = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))


def value(k, i, j):
    """Matrix k of every file: symmetric, distinct, exact in float32."""
    i, j = np.minimum(i, j), np.maximum(i, j)
    return 1 + k / 8 + i / 256 + j / 4096


def matrix(k):
    return np.fromfunction(lambda i, j: value(k, i, j), (N, N))


def diagonal_means(c2):
    return np.array([np.diagonal(c2, lag).mean() for lag in range(N)])


# APS-U: 3 x 4 cells of which 2 and 5 are empty; bins 1..10; seven were processed, not in order of the grid.
with h5py.File(os.path.join(out, "aps_u_lzf.h5"), "w") as h:
    bins = [1, 2, 3, 5, 8, 9, 10]
    mapping = [c for c in range(12) if c not in (2, 5)]
    qmap = h.create_group("xpcs/qmap")
    qmap["dynamic_v_list_dim0"] = np.array([0.003, 0.005, 0.008])
    qmap["dynamic_v_list_dim0"].attrs["unit"] = "Å⁻¹"
    qmap["dynamic_v_list_dim1"] = np.array([-45.0, 0.0, 45.0, 90.0])
    qmap["dynamic_num_pts"] = np.array([3, 4])
    qmap["dynamic_index_mapping"] = np.array(mapping, "u1")
    qmap["map_names"] = np.array([b"q", b"phi"], dtype=h5py.string_dtype())
    twotime = h.create_group("xpcs/twotime")
    twotime["processed_bins"] = np.array(bins)
    twotime["config/stride_frame"] = 2
    twotime["config/avg_frame"] = 3
    for k in range(len(bins)):
        half = np.triu(matrix(k)).astype("f4")
        twotime.create_dataset(f"correlation_map/c2_{k + 1:05d}", data=half, compression="lzf",
                               chunks=(N, N), shuffle=k % 2 == 1)
    twotime["normalized_g2"] = np.stack([diagonal_means(matrix(k)) for k in range(len(bins))], 1).astype("f4")
    h["entry/instrument/detector_1/frame_time"] = np.array([[0.0005]], "f4")

# Old 8-ID-I: bins 4, 7, 12 of 20; results in /exchange1; deflate; all scalars (1,1).
with h5py.File(os.path.join(out, "aps_legacy.h5"), "w") as h:
    h["xpcs/output_data"] = np.bytes_("/exchange1")
    h["xpcs/dqlist"] = (0.002 + 0.001 * (np.arange(20) // 5))[None]
    h["xpcs/dphilist"] = (10.0 * (np.arange(20) % 5))[None]
    h["xpcs/stride_frames"] = [[2]]
    h["xpcs/avg_frames"] = [[1]]
    h["measurement/instrument/detector/exposure_period"] = [[0.25]]
    h["exchange/C2T_all/g2_00001"] = np.zeros((3, 3))
    for k, b in enumerate((4, 7, 12)):
        h.create_dataset(f"exchange1/C2T_all/g2_{b:05d}", data=np.triu(matrix(k)).astype("f4"),
                         compression=6, chunks=(N, N))

# CHX: q last, whole matrices, metadata as attributes.
with h5py.File(os.path.join(out, "chx.h5"), "w") as h:
    h["g12b"] = np.stack([matrix(k) for k in range(3)], -1)
    h["qval_dict"] = np.array([1])
    h["md"] = np.array([1])
    for k in range(3):
        h["qval_dict"].attrs[str(k)] = np.array([0.004, 30.0 * k])
    h["md"].attrs["acquire period"] = 0.01

# NeXus: lower halves, baseline 0, q first.
with h5py.File(os.path.join(out, "nxxpcs.h5"), "w") as h:
    d = h.create_dataset("entry/XPCS/twotime/two_time_corr_func",
                         data=np.stack([np.tril(matrix(k) - 1) for k in range(2)]))
    d.attrs.update(storage_mode="one_array_q_first", baseline_reference=0, time_origin_location="upper_left",
                   populated_elements="lower_half")
    h["entry/XPCS/instrument/masks/dynamic_q_list"] = [0.01, 0.01]
    h["entry/XPCS/instrument/masks/dynamic_phi_list"] = [0.0, 90.0]

# Caches: homodyne (deflated, float32, cut at frame 11) and heterodyne (stored).
cube = np.stack([matrix(k) for k in range(3)])
t = 0.5 * np.arange(N)
np.savez_compressed(os.path.join(out, "homodyne.npz"), c2_exp=cube.astype("f4"), t1=t, t2=t,
                    wavevector_q_list=np.full(3, 0.0054), phi_angles_list=np.array([0.0, 45.0, 90.0]),
                    cache_metadata_json=np.array(json.dumps({"start_frame": 11, "end_frame": 10 + N})))
np.savez(os.path.join(out, "heterodyne.npz"), c2=cube, t=t, q=np.float64(0.0054), q_values=np.full(3, 0.0054),
         phi=np.array([0.0, 45.0, 90.0]), source_mtime=np.float64(1.5))

# NeXus as the definition NXxpcs has it: regions first, q in nm^-1, the period of frames at the detector, the unit that
# the definition gives to azimuths.
with h5py.File(os.path.join(out, "nxxpcs_entry.h5"), "w") as h:
    e = h.create_group("entry")
    e.attrs["NX_class"] = "NXentry"
    e["definition"] = "NXxpcs"
    d = e.create_dataset("twotime/two_time_corr_func", data=np.stack([matrix(k) for k in range(3)]))
    d.attrs.update(storage_mode="one_array_q_first", baseline_reference=1, time_origin_location="upper_left",
                   populated_elements="all")
    e["instrument/masks/dynamic_q_list"] = np.array([0.05, 0.05, 0.08])
    e["instrument/masks/dynamic_q_list"].attrs["units"] = "nm-1"
    e["instrument/masks/dynamic_phi_list"] = np.array([0.0, 45.0, 90.0])
    e["instrument/masks/dynamic_phi_list"].attrs["units"] = "1/Å"
    e["instrument/detector/frame_time"] = 20.0
    e["instrument/detector/frame_time"].attrs["units"] = "ms"

# The same with a dataset for each region.
with h5py.File(os.path.join(out, "nxxpcs_keys.h5"), "w") as h:
    for k in range(2):
        h[f"entry/twotime/two_time_corr_func/q_{k + 1:03d}"] = matrix(k)
    h["entry/twotime/two_time_corr_func"].attrs["storage_mode"] = "data_exchange_keys"
    h["entry/instrument/masks/dynamic_q_list"] = [0.004, 0.006]
    h["entry/instrument/detector/frame_time"] = 0.5

# boost_corr until 2025: matrices below /xpcs, bins by number.
with h5py.File(os.path.join(out, "boost_c2t.h5"), "w") as h:
    h["xpcs/dqlist"] = (0.002 + 0.001 * (np.arange(6) // 3))[None]
    h["xpcs/dphilist"] = (30.0 * (np.arange(6) % 3))[None]
    h["entry/instrument/detector_1/frame_time"] = 0.01
    for k, b in enumerate((1, 5)):
        h.create_dataset(f"xpcs/C2T_all/g2_{b:05d}", data=np.triu(matrix(k)).astype("f4"), compression=6, chunks=(N, N))

# ESRF ID02, results of version 2 and of version 1: q in nm^-1, age in s.
with h5py.File(os.path.join(out, "id02_v2.h5"), "w") as h:
    for name, first in (("full", 0), ("horizontal", 1)):
        g = h.create_group(f"entry_0000/correlations/{name}")
        g.create_dataset("twotime/ttcf", data=np.stack([matrix(k + first) for k in range(2)]).astype("f4"),
                         chunks=(1, N, N), compression="gzip")
        g["twotime/age"] = 0.25 * np.arange(N)
        g["twotime/lag"] = 0.25 * np.arange(N)
        g["parameters/q"] = [0.04, 0.06]
with h5py.File(os.path.join(out, "id02_v1.h5"), "w") as h:
    h["entry_0000/title"] = np.array([b"XPCSResultFile"])
    h["entry_0000/dynamix/correlations/q_index_min_max"] = np.array([[1, 0.03, 0.05], [2, 0.05, 0.07], [3, 0.07, 0.09]])
    g = h.create_group("entry_0000/dynamix/correlations/directions/iso")
    g["q_index"] = np.array([1, 3])
    g["2times_correlation/ttcf"] = np.stack([matrix(k) for k in range(2)]).astype("f4")
    g["2times_correlation/age"] = (0.25 * np.arange(N))[:, None]
    g["2times_correlation/timeshift"] = (0.25 * np.arange(N))[:, None]

# midtools (European XFEL, MID): three trains, whose mean is matrix(k); one value of the first is missing.
with h5py.File(os.path.join(out, "midtools.h5"), "w") as h:
    t = np.stack([[matrix(k) + d for k in range(2)] for d in (-1 / 64, 0, 1 / 64)])
    t[1, 0, 3, 5] = t[1, 0, 5, 3] = np.nan
    h["train_resolved/correlation/ttc"] = t
    h["train_resolved/correlation/q"] = [0.2, 0.4]
    h["train_resolved/correlation/t"] = 4.4e-7 * np.arange(N)
    h["train_resolved/correlation/stride"] = 1

# No layout: q x phi x t x t, axes elsewhere and in other units; a group of matrices.
with h5py.File(os.path.join(out, "anywhere.h5"), "w") as h:
    h["results/run3/corr4"] = np.stack([matrix(k) for k in range(6)]).reshape(2, 3, N, N)
    h["results/run3/phi"] = np.deg2rad([0.0, 45.0, 90.0])
    h["results/run3/phi"].attrs["units"] = "rad"
    h["meta/wavevector"] = [0.04, 0.06]
    h["meta/clock"] = 500.0 * np.arange(N)
    for k in range(2):
        h[f"maps/roi_{k + 1}"] = matrix(k)

# boost_corr, multi-tau: g2 of 2 x 3 cells of which the second is empty; delays in frames, sums of two frames.
with h5py.File(os.path.join(out, "boost_multitau.h5"), "w") as h:
    frames = np.array([1, 2, 3, 4, 6, 8])
    g2 = 1 + np.exp2(-np.arange(5)[None] - 0.125 * frames[:, None])
    error = np.full(g2.shape, 1 / 128)
    g2[5, 4], error[0, 0] = np.nan, 0
    m = h.create_group("xpcs/multitau")
    m["normalized_g2"], m["normalized_g2_err"], m["delay_list"] = g2, error, frames[None]
    m["config/stride_frame"], m["config/avg_frame"] = 1, 2
    h["xpcs/qmap/dynamic_v_list_dim0"] = [0.03, 0.05]
    h["xpcs/qmap/dynamic_v_list_dim0"].attrs["units"] = "nm^-1"
    h["xpcs/qmap/dynamic_v_list_dim1"] = [0.0, 60.0, 120.0]
    h["xpcs/qmap/dynamic_index_mapping"] = [0, 2, 3, 4, 5]
    h["entry/instrument/detector_1/frame_time"] = 0.25

# ALV-7004, with decimal commas and errors.
with open(os.path.join(out, "alv.ASC"), "w", encoding="latin-1", newline="\r\n") as f:
    f.write('ALV-7004/USB\nDate :\t"10/10/2018"\nSamplename : \t"silica"\nTemperature [K] :\t     298,15000\n'
            "Viscosity [cp]  :\t       0,89000\nRefractive Index:\t       1,33200\nWavelength [nm] :\t     632,80000\n"
            'Angle [°]       :\t      90,00000\nDuration [s]    :\t        30\nMode            :\t"SINGLE CROSS '
            'CH0"\n\n')
    for title, value in (("Correlation", lambda k: 0.75 * 0.5**k), ("Count Rate", lambda k: 50.0),
                         ("StandardDeviation", lambda k: 1 / 256)):
        f.write(f'"{title}"\n')
        for k in range(6):
            f.write(f"{2.0**k:.5E}\t{value(k):.5E}\n".replace(".", ","))
        f.write("\nMonitor Diode\t  1234567,00\n\n" if title == "Count Rate" else "\n")
