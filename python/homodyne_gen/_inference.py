"""Groups of draws as ArviZ's InferenceData, or as plain dicts where arviz is not installed."""
import inspect

import numpy as np


def normal_draws(mean, covariance, chains, draws, seed):
    """(chains, draws, n) normal draws; columns without a finite variance are constant.  By eigenvectors, which takes
    covariances that are singular (parameters shared by groups)."""
    x = np.broadcast_to(mean, (chains, draws, mean.size)).copy()
    free = np.flatnonzero(np.isfinite(np.diag(covariance)) & (np.diag(covariance) > 0))
    if free.size:
        scale = np.sqrt(np.diag(covariance)[free])
        value, vector = np.linalg.eigh(covariance[np.ix_(free, free)] / np.outer(scale, scale))
        root = scale[:, None] * vector * np.sqrt(np.clip(value, 0, None))
        x[..., free] += np.random.default_rng(seed).standard_normal((chains, draws, free.size)) @ root.T
    return x


def inference_data(groups, dims, coords, attrs):
    """groups: {group: {variable: array}}; of the posterior with axes chain and draw first, which dims leaves out."""
    groups = {g: v for g, v in groups.items() if v}
    try:
        import arviz as az
    except ImportError:
        return {**groups, "dims": dims, "coords": coords, "attrs": attrs}
    if "data" in inspect.signature(az.from_dict).parameters:  # ArviZ 1
        idata = az.from_dict(groups, coords=coords, dims=dims)
        idata.attrs.update(attrs)
        idata["posterior"].attrs.update(attrs)
        return idata
    idata = az.from_dict(**groups, coords=coords, dims=dims)
    idata.posterior.attrs.update(attrs)
    return idata
