/* lock.h -- one run at a time in an output folder.
 *
 * The lock is that of the system upon .homodyne.lock in the folder: it holds between containers and between hosts that
 * share a file system with locks (NFS has them), and it ends with the process that has it, however that ends.  The text
 * in the file says who has it: a second run refuses and shows it.  What killed runs have left in the folder under
 * temporary names is removed by who gets the lock.
 *
 *     struct fit_lock lock = FIT_LOCK_NONE;
 *     fit_lock_take(&lock, "results", "homodyne-laminar", run_id, err);
 *     ...
 *     fit_lock_release(&lock);      also without fit_lock_take
 */
#pragma once

#include "base/status.h"

struct fit_lock {
    int fd;       /* -1: not taken */
    int enforced; /* 0: this file system has no locks */
    char folder[1024];
    unsigned made; /* folders on the way that were not there before, from the last one */
};
#define FIT_LOCK_NONE {.fd = -1}

/* Makes the folder and takes it; FIT_ERR_IO with the words of the holder when another run has it.  id: of the run, or
 * "". */
enum fit_status fit_lock_take(struct fit_lock *lock, const char *folder, const char *program, const char *id,
                              struct fit_error *err);

/* The same, but waits for the holder, at most so many seconds: for what takes a moment. */
enum fit_status fit_lock_wait(struct fit_lock *lock, const char *folder, const char *program, double seconds,
                              struct fit_error *err);

/* Has a run the folder at this moment? */
int fit_lock_is_held(const char *folder);

/* Gives the folder back; one that was made for the run and is still empty goes. */
void fit_lock_release(struct fit_lock *lock);
