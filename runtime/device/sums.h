/* sums.h -- the sums of fit/kernel.h over a whole data set, by an accelerator.
 *
 * Values are copied to the device once, or in pieces in every pass where they do not fit. The processor makes the
 * tables by `prepare` of the kernel and sends them with each call: some 100 kB to 1 MB, compared with 8 bytes for each
 * value; only the sums come back. Calls from several threads that wait at the same time -- chains, starts -- are one
 * launch; every call has its own sums in their own order, so that results do not depend on the combination.
 */
#pragma once

#include "data/dataset.h"
#include "device/device.h"
#include "device/offered.h"

struct fit_device_sums;

enum fit_device_sum { FIT_DEVICE_MOMENTS, FIT_DEVICE_NORMAL, FIT_DEVICE_GRADIENT };

/* For the kernel and values of ds; the same object for all requests with the same values. FIT_ERR_CONFIG when there
 * are no kernels for it (fit_device_lacks), FIT_ERR_MEMORY, FIT_ERR_INTERNAL. Borrows all arguments. */
enum fit_status fit_device_sums_new(struct fit_device *d, const struct fit_kernel *kernel, const struct fit_dataset *ds,
                                    struct fit_device_sums **sums, struct fit_error *err);
/* Why there are no kernels for it; NULL: there are. */
const char *fit_device_lacks(const struct fit_kernel *kernel, const struct fit_dataset *ds);

struct fit_device_sums *fit_device_sums_share(struct fit_device_sums *sums); /* one more owner */
void fit_device_sums_free(struct fit_device_sums *sums);

/* out <- moments, normal or gradient of all data, as the kernel computes them for a tile. 0, or -1 when the device
 * failed (fit_device_failure). */
struct fit_device_request {
    enum fit_device_sum what;
    const double *ws, *lin, *adj;
    double *out;
};
int fit_device_sums_take(struct fit_device_sums *sums, const struct fit_device_request *request);

/* The mean of every value, in the order of the data (fit/kernel.h, model), tile after tile; -1 as above, also where
 * values are not kept on the device. */
int fit_device_values(struct fit_device_sums *sums, const double *ws, const double *lin, double *out);
size_t fit_device_sums_doubles(const struct fit_device_sums *sums); /* numbers of fit_device_values */

/* What it has done. */
struct fit_device_count {
    size_t launches, calls, bytes; /* bytes of the data on the device; 0: in pieces */
};
const char *fit_device_sums_failure(const struct fit_device_sums *sums); /* of its devices */
struct fit_device_count fit_device_sums_count(const struct fit_device_sums *sums);
