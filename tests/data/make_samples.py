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
