/* predict.c -- predicts the time of a pass with derivatives.
 *
 * A device: the operations of all kernels of a pass at PART of its rate of double precision, or its values at
 * PART_OF_MEMORY of its memory bandwidth, whichever is slower; its launches, and the copies of the tables. Rates are
 * the makers' ratings, found by a word of the name, otherwise derived from the clock. Nothing has been measured on a
 * card: PART and LAUNCH are what such kernels reach elsewhere. A processor without a measurement: NS_PER_VALUE of the
 * two-time model laminar, on one core, scaled by operations.
 */
#include "device/device.h"

#include <string.h>

#include "device/predict.h"

static const double PART = 0.25, PART_OF_MEMORY = 0.7, LAUNCH = 6e-6, NS_PER_VALUE = 1.1, OPERATIONS = 63;

enum { LANES = 32, PASSES = 10 }; /* of double precision in a multiprocessor; launches, copies among them, of a pass */

/* Operations per second of double precision, a fused multiply-add counting as one; bytes per second of its memory
 * and of the bus. The first match counts. */
static const struct class {
    const char *word;
    double operations, memory, bus;
} classes[] = {{"B200", 18e12, 8e12, 45e9},       {"GH200", 17e12, 4e12, 200e9},     {"H200", 17e12, 4.8e12, 45e9},
               {"H100 PCIe", 13e12, 2e12, 45e9},  {"H100 NVL", 15e12, 3.9e12, 45e9}, {"H100", 17e12, 3.3e12, 45e9},
               {"A100", 4.8e12, 1.9e12, 22e9},    {"A30", 2.6e12, 0.93e12, 22e9},    {"MI300", 40e12, 5.3e12, 45e9},
               {"MI250", 12e12, 1.6e12, 22e9},    {"MI210", 11e12, 1.6e12, 22e9}};

static struct class class_of_one(const struct fit_device_info *info)
{
    const double clock = (info->units ? info->units : 1) * 1e6 * (info->mhz ? info->mhz : 1000);
    for (size_t k = 0; k < sizeof classes / sizeof *classes && info->is_card; k++)
        if (strstr(info->name, classes[k].word))
            return classes[k];
    return (struct class){NULL, clock * (info->is_card ? LANES : 1), info->is_card ? 0.5e12 : 10e9,
                          info->is_card ? 10e9 : 5e9};
}

/* Sum over all devices that share sums. */
static struct class class_of(const struct fit_device_info *info)
{
    const double n = info->together > 1 ? info->together : 1;
    const struct class one = class_of_one(info);
    return (struct class){one.word, n * one.operations, n * one.memory, n * one.bus};
}

double fit_device_bus(const struct fit_device_info *info)
{
    return class_of(info).bus;
}

const char *fit_device_class(const struct fit_device_info *info)
{
    return class_of(info).word;
}

double fit_device_seconds(const struct fit_device_info *info, const struct fit_device_work *work)
{
    const struct class c = class_of(info);
    const double operations = work->values * (2.0 * work->per_value + work->value_only) +
                              work->values / (work->groups > 0 ? work->groups : 1) * work->per_pair;
    const double compute = operations / (PART * c.operations);
    const double read = 3 * 8 * work->values / (PART_OF_MEMORY * c.memory);
    return (compute > read ? compute : read) + PASSES * LAUNCH + work->table_bytes / c.bus;
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
