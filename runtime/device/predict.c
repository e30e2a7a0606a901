/* predict.c -- how long a pass with derivatives takes, before it is done.
 *
 * A device: operations of all kernels of a pass at PART of its rate of double precision, its launches, and the tables
 * that go there.  Figures of cards have not been measured: PART and LAUNCH are what such kernels reach elsewhere.  A
 * processor without a measurement: NS_PER_VALUE of the two-time model laminar, on one core, by operations.
 */
#include "device/device.h"

#include "device/predict.h"

static const double PART = 0.25, LAUNCH = 12e-6, BUS = 10e9, NS_PER_VALUE = 1.1, OPERATIONS = 63;

enum { LANES = 32, PASSES = 9 }; /* of double precision in a multiprocessor; launches, copies among them, of a pass */

double fit_device_seconds(const struct fit_device_info *info, const struct fit_device_work *work)
{
    const double rate = (info->units ? info->units : 1) * 1e6 * (info->mhz ? info->mhz : 1000) *
                        (info->is_card ? LANES : 1);
    const double operations = work->values * (2.0 * work->per_value + work->value_only) +
                              work->values / (work->groups > 0 ? work->groups : 1) * work->per_pair;
    return operations / (PART * rate) + PASSES * LAUNCH + work->table_bytes / BUS;
}

double fit_processor_seconds(const struct fit_device_work *work, int threads)
{
    const double of_pair = work->per_pair / (work->groups > 0 ? work->groups : 1);
    const double operations = work->per_value + work->value_only + of_pair;
    return 1e-9 * NS_PER_VALUE * work->values * operations / OPERATIONS / (threads > 0 ? threads : 1);
}

struct fit_device_work fit_device_work_of(const struct fit_kernel *k, double values, double groups, double table_bytes)
{
    return (struct fit_device_work){values, groups, k->cost.per_pair_group, k->cost.value_per_pair_group,
                                    k->cost.per_pair, table_bytes};
}
