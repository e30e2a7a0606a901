/* device.h -- accelerators: which there are, one that is open, its memory and its kernels.
 *
 * Three kinds: CUDA (its driver), OpenCL (its loader of drivers), both found when the program runs, and `plain`: the
 * same kernels as plain C on this processor, for comparison.  Nothing of them is needed to build or to run.
 *
 * Words for --device:  cpu   no accelerator;   gpu   the first card with full double precision, else an error;
 * auto   that card where the estimate says that it is the faster, else cpu;   cuda:N, opencl:N, plain   this one;
 * cuda, opencl   one of these;   a+b, cuda:all, opencl:all   these, or all of a kind, which share the sums of one data
 * set that fits their memories, in one tree: the same bits.  Where several processes of one run share a machine, each
 * takes another one of those that a word of one device allows, as long as there are (by the numbers that MPI libraries
 * and SLURM give them).
 */
#pragma once

#include <stddef.h>

#include "base/status.h"
#include "fit/gpu_program.h"

enum fit_device_kind { FIT_DEVICE_CUDA, FIT_DEVICE_OPENCL, FIT_DEVICE_PLAIN };

struct fit_device_info {
    enum fit_device_kind kind;
    unsigned index;    /* among those of its kind */
    char word[24];     /* for --device */
    char name[120];
    char what[120];    /* "compute capability 9.0", "OpenCL 3.0 pocl" */
    size_t memory;     /* bytes */
    unsigned units;    /* multiprocessors, compute units */
    unsigned mhz;
    unsigned together; /* devices that share sums; 0 or 1: it is alone */
    int is_card;       /* 0: a processor under OpenCL, plain */
    int weak;          /* single precision is so many times as fast as double, where that is known; 0: unknown */
    char unusable[160]; /* why double precision is not done there; "": it is */
};

/* Calls fn for every device but plain; *missing: what was looked for and not found, for people. */
void fit_device_list(void (*fn)(void *user, const struct fit_device_info *info), void *user, char *missing,
                     size_t size);

struct fit_device;

/* Opens a device by its word; *d = NULL for cpu, and for auto where there is no card.  FIT_ERR_CONFIG for an unknown
 * word or one that is not there.  note: what there is to say, "" for nothing. */
enum fit_status fit_device_open(const char *word, struct fit_device **d, char *note, size_t size,
                                struct fit_error *err);
void fit_device_close(struct fit_device *d); /* and those that share sums with it */
struct fit_device *fit_device_next(const struct fit_device *d); /* of those that share sums; NULL: that was the last */
const struct fit_device_info *fit_device_about(const struct fit_device *d);
int fit_device_is_automatic(const struct fit_device *d); /* 1: opened by `auto` */

/* The device that objectives use, or NULL.  Set once, before them. */
void fit_device_use(struct fit_device *d);
struct fit_device *fit_device_used(void);

/* Memory there; NULL: not so much. */
void *fit_device_buffer(struct fit_device *d, size_t bytes);
void fit_device_release(struct fit_device *d, void *buffer);

/* 0, or -1 when the device failed; fit_device_failure says how.  Writes may still be on their way when the call
 * returns, kernels as well; a read waits for all. */
int fit_device_write(struct fit_device *d, void *buffer, size_t at, const void *from, size_t bytes);
int fit_device_read(struct fit_device *d, void *buffer, void *to, size_t bytes);
int fit_device_read_at(struct fit_device *d, void *buffer, size_t at, void *to, size_t bytes);
const char *fit_device_failure(const struct fit_device *d);

/* Values on their way to slots of buffers while kernels work on others.  Memory of the host from which a device can
 * take them by itself, or NULL.  send: begins to copy; `from` stays as it is until the slot is settled.  arrive:
 * kernels that are run from now on wait for what was sent.  leave: the slot is used by the kernels run so far.
 * settle: waits until they are done. */
void *fit_device_host(struct fit_device *d, size_t bytes);
void fit_device_host_free(struct fit_device *d, void *memory);
int fit_device_send(struct fit_device *d, void *buffer, const void *from, size_t bytes);
int fit_device_arrive(struct fit_device *d, size_t slot);
int fit_device_leave(struct fit_device *d, size_t slot);
int fit_device_settle(struct fit_device *d, size_t slot);

/* The kernels of a program, compiled where they have to be; the device keeps them to its end.  For one thread at a
 * time. */
struct fit_device_module;
enum fit_status fit_device_load(struct fit_device *d, const struct fit_gpu_source *source,
                                struct fit_device_module **module, struct fit_error *err);

/* A kernel: blocks of FIT_GPU_THREADS threads, its arguments buffers in their order. */
struct fit_device_call {
    const char *kernel;
    fit_gpu_plain *plain; /* NULL: fit_gpu_total */
    size_t grid[3];
    void *buffer[10];
    unsigned nbuffer;
};
int fit_device_run(struct fit_device_module *m, const struct fit_device_call *call);

/* What it was used for: calls and launches of sums, and why it was not, or not to the end ("": nothing to say). */
struct fit_device_tally {
    size_t calls, launches;
    char why[240];
};
struct fit_device_tally fit_device_tally(struct fit_device *d);
void fit_device_add(struct fit_device *d, size_t calls); /* a launch; the caller has the lock */
void fit_device_say(struct fit_device *d, const char *why);

/* So many fits of small data go side by side; what they ask for at the same time becomes one launch.  1 at first. */
void fit_device_expect(struct fit_device *d, size_t fits);
size_t fit_device_expected(const struct fit_device *d);

/* Threads for n independent fits that would have so many without a device: with the one that is used, as many as there
 * are fits, up to a launch; they wait for it most of the time.  Expects them. */
int fit_device_threads(int threads, size_t n);

/* Sum of the FIT_GPU_THREADS leaves, in the order of fit_gpu_total; changes them. */
double fit_device_tree(double *leaf);

/* One user at a time. */
void fit_device_lock(struct fit_device *d);
void fit_device_unlock(struct fit_device *d);
