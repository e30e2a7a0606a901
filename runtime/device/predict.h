/* predict.h -- predicted times of passes over the data on a device and the processor: for `estimate`, --device auto. */
#pragma once

#include "device/device.h"
#include "fit/kernel.h"

struct fit_device_work {
    double values, groups;
    double per_value, value_only, per_pair; /* operations, of fit_cost */
    double table_bytes;
};

struct fit_device_work fit_device_work_of(const struct fit_kernel *k, double values, double groups, double table_bytes);

/* Seconds of the sums and of the sums with derivatives, once each. */
double fit_device_seconds(const struct fit_device_info *info, const struct fit_device_work *work);
double fit_device_bus(const struct fit_device_info *info);        /* bytes a second from here to there */
const char *fit_device_class(const struct fit_device_info *info); /* the card whose ratings are known; NULL: from its
                                                                   * clock */
double fit_processor_seconds(const struct fit_device_work *work, int threads);
