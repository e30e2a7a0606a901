"""templates.py SPEC SAMPLES: the templates of the Python packages from the tables of the specification.

Appendix A lists every key of each shipped template with its value; A.4 the bounds.  Lists that the tables only
name (angles, parameter names) are filled in.  Writes one YAML file for each template into the current folder.
"""
import re
import sys

import yaml

ABSENT = object()


def rows(lines, begin, end):
    first = next(k for k, line in enumerate(lines) if line.startswith(begin))
    last = next(k for k, line in enumerate(lines) if line.startswith(end))
    return lines[first:last]


def value(text, kind):
    text = text.strip()
    if text == "—":
        return ABSENT
    if text.startswith("`") and text.endswith("`"):
        return text[1:-1] if kind == "str" else yaml.safe_load(text[1:-1])
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return text


def templates(lines, columns):
    out = {c: {} for c in columns}
    for line in lines:
        m = re.match(r"\| `([^`]+)` \| ([^|]*) \| (.*) \| (LIVE|dead|part)[^|]* \|", line)
        if not m:
            continue
        path, kind, text = m.group(1).split("."), m.group(2).strip(), m.group(3).strip()
        for column in columns:
            one = text
            if " · " in text and re.match(r"\w+: ", text):
                parts = dict(p.split(": ", 1) for p in text.split(" · ") if ": " in p)
                if column not in parts:
                    continue
                one = parts[column]
            v = value(one, kind)
            if v is ABSENT:
                continue
            node = out[column]
            for key in path[:-1]:
                if not isinstance(node.get(key), dict):
                    node[key] = {}
                node = node[key]
            node[path[-1]] = v
    return out


def bounds(lines):
    out = {}
    for line in lines:
        m = re.match(r"\| (\w+) \| `(\w+)` \| (\S+) \| (\S+) \| (\S+) \| (\S+) \| (.*) \|", line)
        if not m:
            continue
        template, name, low, high, mu, sigma, unit = m.groups()
        entry = {"name": name, "min": float(low), "max": float(high), "unit": unit}
        if mu != "—":
            entry.update(type="TruncatedNormal", prior_mu=float(mu), prior_sigma=float(sigma))
        out.setdefault(template, []).append(entry)
    return out


STATIC = ["D0", "alpha", "D_offset"]
LAMINAR = STATIC + ["gamma_dot_t0", "beta", "gamma_dot_t_offset", "phi0"]
TWO = ["D0_ref", "alpha_ref", "D_offset_ref", "D0_sample", "alpha_sample", "D_offset_sample", "v0", "beta",
       "v_offset", "f0", "f1", "f2", "f3", "phi0"]
TWO_X = [{"beta": "v_beta", "phi0": "phi0_het"}.get(n, n) for n in TWO]


def main():
    lines = open(sys.argv[1], encoding="utf-8").read().split("\n")
    samples = sys.argv[2]
    limits = bounds(rows(lines, "### A.4", "# Appendix B"))
    h = templates(rows(lines, "### A.1", "### A.2"), ["static", "laminar", "master"])
    x = templates(rows(lines, "### A.2", "### A.3"), ["iso", "aniso", "flow", "two"])
    e = templates(rows(lines, "### A.3", "### A.4"), ["master"])
    for name, config, names, data, frames in [
        ("homodyne_static", h["static"], STATIC, "static_N200.h5", 200),
        ("homodyne_laminar_flow", h["laminar"], LAMINAR, "laminar_N200x5.h5", 200),
        ("homodyne_master_template", h["master"], LAMINAR, "laminar_N200x5.h5", 200),
        ("xpcsjax_static_isotropic", x["iso"], STATIC, "static_N200.h5", 200),
        ("xpcsjax_static_anisotropic", x["aniso"], STATIC, "static_aniso_N200x5.h5", 200),
        ("xpcsjax_laminar_flow", x["flow"], LAMINAR, "laminar_N200x5.h5", 200),
        ("xpcsjax_two_component", x["two"], TWO_X, "het_N100x2.h5", 100),
        ("heterodyne_master_template", e["master"], TWO, "het_N100x2.h5", 100),
    ]:
        like = {3: "homodyne_static", 7: "homodyne_laminar_flow"}.get(len(names), name)
        config["parameter_space"]["bounds"] = limits.get(name, limits[like])
        config["initial_parameters"]["parameter_names"] = names
        config["phi_filtering"]["target_ranges"] = [{"min_angle": -10.0, "max_angle": 10.0},
                                                    {"min_angle": 85.0, "max_angle": 95.0}]
        where = config["experimental_data"]
        if name.startswith("heterodyne"):
            where["file_path"] = f"{samples}/{data}"
        else:
            where["data_folder_path"], where["data_file_name"] = samples, data
        analyzer = config["analyzer_parameters"]
        analyzer.update(dt=0.1, end_frame=frames)
        analyzer["scattering"]["wavevector_q"] = 0.0054
        with open(name + ".yaml", "w", encoding="utf-8") as f:
            yaml.safe_dump(config, f, sort_keys=False, allow_unicode=True)


main()
