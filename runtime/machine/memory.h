/* memory.h -- how much memory there is. */
#pragma once

#include <stddef.h>

/* MB (1e6 bytes) that this process may still take: what the system calls available, not more than
 * the limits of its cgroups leave.  NaN: nobody knows. */
double fit_memory_available_mb(void);

/* So many processes of one run are on this machine: each may take its part of what is available. */
void fit_memory_share(size_t processes);

/* Whether so many bytes may be asked for: files can say, or expand to, what no machine has, and malloc() gives more
 * than there is.  Up to 64 MB always; else not more than is available. */
int fit_memory_room(double bytes);

/* Megabytes: the most that this process ever held. */
double fit_memory_peak_mb(void);
