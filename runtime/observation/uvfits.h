/* uvfits.h -- the conventions of UVFITS (Greisen, AIPS Memo 117), as far as they are read.
 *
 * Random groups, one per baseline and time. Parameters UU VV (light seconds; UU-L VV-L: wavelengths), BASELINE (256 a +
 * b, or 2048 a + b + 65536; hundredths: the subarray) or ANTENNA1 ANTENNA2, DATE (once or twice; they are added),
 * INTTIM. Axes COMPLEX (real, imaginary, weight = 1/sigma^2; a weight <= 0: flagged), STOKES, FREQ, IF, RA, DEC. Tables
 * AIPS AN (names, numbers and positions of stations) and AIPS FQ (frequencies of IFs).
 *
 * Stokes parameters. -1 to -4, circular: I = (RR + LL)/2, V = (RR - LL)/2, Q = (RL + LR)/2, U = (RL - LR)/(2i). -5 to
 * -8, linear, without rotation of the feeds: I = (XX + YY)/2, Q = (XX - YY)/2, U = (XY + YX)/2, V = (XY - YX)/(2i). 1
 * to 4: themselves. If only one parallel hand was measured, I is that one, and the others are not measured.
 *
 * IFs and channels are averaged with their weights; (u, v) are those of the mean frequency.
 */
#pragma once

#include "base/status.h"
#include "observation/observation.h"

struct fit_fits;

/* What the tables tell. */
struct fit_uvfits_tables {
    int *index;           /* UVFITS_STATIONS + 1: the index of a station's number in obs->site, or -1; NULL: no table */
    double offset, width; /* mean frequency of IFs relative to the header's, their total bandwidth: Hz; NaN unknown */
    int arrays;           /* tables of antennas */
};

enum { FIT_UVFITS_STATIONS = 65535 };

/* Reads the table AIPS AN or AIPS FQ that is the unit of f, or does nothing; stations go to obs, index to its arena. */
enum fit_status fit_uvfits_table(const struct fit_fits *f, struct fit_uvfits_tables *t, struct fit_obs *obs,
                                 struct fit_error *err);

/* Stokes parameters of correlations 0 .. 3 (codes -1 .. -4, -5 .. -8 or 1 .. 4: base -1, -5, 1), sigma infinite where
 * they were not measured. */
struct fit_correlation {
    double re, im, sigma;
};
void fit_uvfits_stokes(int base, const struct fit_correlation c[4], struct fit_correlation s[4]);
