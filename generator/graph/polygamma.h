/* polygamma.h -- derivatives of the logarithm of the gamma function, in extended precision. */
#pragma once

/* The k-th derivative of log Gamma at x > 0, k = 0 .. 4 (NaN for x < 0); relative error about 1e-18. */
long double hg_polygamma(int k, long double x);
