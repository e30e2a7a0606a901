/* schedule.h -- simulated schedules: stations that follow a source through a day. */
#pragma once

#include "observation/observation.h"

struct fit_schedule {
    double cadence;       /* s, from one time to the next; the first is 0h UTC */
    double lowest, highest; /* elevations between which a station sees the source, degrees; 0, 0: 10 and 85 */
};

/* Rows of every baseline of stations that see the source of `like` at the same time, over 24 hours of its day: (u,
 * v) and thermal errors
 *     sigma = sqrt(SEFD_1 SEFD_2 / (2 bandwidth tint)) / (0.88 sqrt 2)
 * of the real and of the imaginary part, of Stokes I and of those that `like` has; visibilities are 0. 0.88: two-bit
 * quantisation. (u, v) from the mean sidereal time of 1982, without precession, nutation and polar motion.
 * FIT_ERR_DATA: `like` lacks positions or SEFD of stations, a frequency, a bandwidth, tint or the source's position. */
enum fit_status fit_obs_schedule(const struct fit_obs *like, const struct fit_schedule *s, struct fit_obs **obs,
                                 struct fit_error *err);

/* Adds noise to visibilities: sigma times standard normals, which are those at (seed, Stokes parameter, row) of
 * math/rng.h, whatever the order of computation. Unmeasured rows stay as they are. */
void fit_obs_add_noise(struct fit_obs *obs, unsigned long long seed);
