"""Values with their errors as words: as the programs write them (fit_format_error of runtime/results/results.c)."""
import math

import numpy as np


def with_error(value, error):
    """(value, error) as text, to the second digit of the error; without an error six digits and ""."""
    if not (error > 0 and math.isfinite(error) and math.isfinite(value)):
        return f"{value:.6g}", ""
    place = math.floor(math.log10(error))
    size = math.floor(math.log10(abs(value))) if value else place
    if size >= 7 or place >= 7 or size < -5:
        return f"{value:.{min(max(size - place + 1, 1), 14)}e}", f"{error:.1e}"
    decimals = max(12 - size if size > place + 12 else 1 - place, 0)
    text = f"{value:.{decimals}f}"
    return text.lstrip("-") if float(text) == 0 else text, f"{error:.{decimals}f}"


def _interval(low, high):
    if np.isnan(low) and np.isnan(high):
        return ""
    ends = f"{low:.4g} .. {high:.4g}" if not np.isnan(low + high) else \
        f"below {high:.4g}" if np.isnan(low) else f"above {low:.4g}"
    return f"{ends}, 95 %"


def span_text(values):
    """"0.0054", "0.003 .. 0.008 (7)" or "not told": what numbers there are."""
    values = np.asarray(values, dtype=float)
    good = values[np.isfinite(values)]
    if not good.size:
        return "not told"
    low, high = good.min(), good.max()
    return f"{low:.6g}" if low == high else f"{low:.6g} .. {high:.6g} ({values.size})"


def value_text(value, std, interval, unit="", on_bound=False):
    """A value with its error; where it has none the ends of its interval of 95 %, or why there are none."""
    text, error = with_error(value, std)
    if std == 0:
        words = ["held"]
    elif error:
        words = ["on a bound"] if on_bound else []
    else:
        words = [w for w in (_interval(*interval), "on a bound" if on_bound else "") if w] or ["undetermined"]
    parts = text, f"+- {error}" if error else "", unit, f"({'; '.join(words)})" if words else ""
    return " ".join(filter(None, parts))
