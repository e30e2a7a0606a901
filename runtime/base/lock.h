/* lock.h -- one run at a time in an output folder.
 *
 * The lock is a system lock on .homodyne.lock in the folder: it works between containers and between hosts that share a
 * file system with locks (NFS has them), and it ends with the process that holds it, in any case. The text in the file
 * names the holder; a second run refuses and shows it. The new holder removes temporary files that killed runs have
 * left in the folder.
 *
 *     struct fit_lock lock = FIT_LOCK_NONE;
 *     fit_lock_take(&lock, "results", "homodyne-laminar", run_id, err);
 *     ...
 *     fit_lock_release(&lock);      also without fit_lock_take
 */
#pragma once

#include "base/status.h"

struct fit_lock {
    int fd;           /* -1: not taken */
    const char *name; /* of the file in the folder */
    int enforced; /* 0: this file system has no locks */
    char folder[1024];
    unsigned made; /* number of folders, counted from the last, that did not exist before */
};
#define FIT_LOCK_NONE {.fd = -1}

/* Makes the folder and locks it; FIT_ERR_IO, with the name of the holder, when another run has it. id: of the run,
 * or "". */
enum fit_status fit_lock_take(struct fit_lock *lock, const char *folder, const char *program, const char *id,
                              struct fit_error *err);

/* The table of the folder, which several programs may write in turn, apart from a run in the folder: waits for the
 * holder, for at most so many seconds. */
enum fit_status fit_lock_wait(struct fit_lock *lock, const char *folder, const char *program, double seconds,
                              struct fit_error *err);

/* Does a run hold the folder at this moment? */
int fit_lock_is_held(const char *folder);

/* Releases the folder; removes it if it was made for the run and is still empty. */
void fit_lock_release(struct fit_lock *lock);
