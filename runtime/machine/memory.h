/* memory.h -- how much memory there is. */
#pragma once

#include <stddef.h>

/* MB (1e6 bytes) that this process may still take: what the system reports as available, at most what the limits of
 * its cgroups leave. NaN: unknown. */
double fit_memory_available_mb(void);

/* So many processes of one run are on this machine: each may take its share of the available memory. */
void fit_memory_share(size_t processes);

/* Whether so many bytes may be requested: files can claim, or expand to, sizes that no machine has, and malloc()
 * grants more than there is. Up to 64 MB always; otherwise up to the available memory. */
int fit_memory_room(double bytes);

/* Megabytes: the peak memory of this process. */
double fit_memory_peak_mb(void);
