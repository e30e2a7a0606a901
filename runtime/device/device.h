/* device.h -- accelerators: the available ones, an open one, its memory and its kernels.
 *
 * Three kinds: CUDA (its driver), OpenCL (its loader of drivers), both loaded at run time, and `plain`: the same
 * kernels as plain C on this processor, for comparison. None of them is needed to build or to run.
 *
 * Words for --device: cpu no accelerator; gpu the first card with full double precision, otherwise an error; auto that
 * card where it is predicted to be faster, otherwise cpu; cuda:N, opencl:N, plain this one; cuda, opencl one of these;
 * a+b, cuda:all, opencl:all these, or all of a kind, which share the sums of one data set that fits their memories, in
 * one tree: the same bits. Where several processes of one run share a machine, each takes a different device among
 * those of a word for one device, as long as there are enough (by the numbers that MPI libraries and SLURM give them).
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
    int weak;          /* ratio of the speeds of single and double precision, where known; 0: unknown */
    char unusable[160]; /* why double precision is unsuitable there; "": it is suitable */
};

/* Calls fn for every device but plain; *missing: what was sought and not found, for people. */
void fit_device_list(void (*fn)(void *user, const struct fit_device_info *info), void *user, char *missing,
                     size_t size);

struct fit_device;

/* FIT_ERR_CONFIG: no machine has a device of this word. */
enum fit_status fit_device_is_word(const char *word, struct fit_error *err);

/* Opens a device by its word; *d = NULL for cpu, and for auto without a card. FIT_ERR_CONFIG for an unknown word or
 * a missing device. note: a message, "" for none. */
enum fit_status fit_device_open(const char *word, struct fit_device **d, char *note, size_t size,
                                struct fit_error *err);
void fit_device_close(struct fit_device *d); /* and those that share sums with it */
struct fit_device *fit_device_next(const struct fit_device *d); /* of those that share sums; NULL: that was the last */
const struct fit_device_info *fit_device_about(const struct fit_device *d);
int fit_device_is_automatic(const struct fit_device *d); /* 1: opened by `auto` */

/* The device that objectives use, or NULL.  Set once, before them. use_here: that of the objectives which this thread
 * makes, and the threads of its loops (machine/team.h), in place of the other; NULL: the other again. */
void fit_device_use(struct fit_device *d);
void fit_device_use_here(struct fit_device *d);
struct fit_device *fit_device_used(void);

/* Allocates memory on the device; NULL: not enough. */
void *fit_device_buffer(struct fit_device *d, size_t bytes);
void fit_device_release(struct fit_device *d, void *buffer);

/* 0, or -1 when the device failed; fit_device_failure says how. Writes and kernels may still be in progress when the
 * call returns; a read waits for all. */
int fit_device_write(struct fit_device *d, void *buffer, size_t at, const void *from, size_t bytes);
int fit_device_read(struct fit_device *d, void *buffer, void *to, size_t bytes);
int fit_device_read_at(struct fit_device *d, void *buffer, size_t at, void *to, size_t bytes);
const char *fit_device_failure(const struct fit_device *d);

/* Asynchronous copies of values to slots of buffers while kernels work on others. Host memory from which a device
 * can copy by itself, or NULL. send: starts the copy; `from` must not change until the slot is settled. arrive:
 * kernels run from now on wait for what was sent. leave: the slot is used by the kernels run so far. settle: waits
 * until they are done. */
void *fit_device_host(struct fit_device *d, size_t bytes);
void fit_device_host_free(struct fit_device *d, void *memory);
int fit_device_send(struct fit_device *d, void *buffer, const void *from, size_t bytes);
int fit_device_arrive(struct fit_device *d, size_t slot);
int fit_device_leave(struct fit_device *d, size_t slot);
int fit_device_settle(struct fit_device *d, size_t slot);

/* The kernels of a program, compiled if necessary; the device keeps them until it is closed. For one thread at a
 * time. */
struct fit_device_module;
enum fit_status fit_device_load(struct fit_device *d, const struct fit_gpu_source *source,
                                struct fit_device_module **module, struct fit_error *err);

/* Runs a kernel: blocks of FIT_GPU_THREADS threads, its arguments are buffers in their order. */
struct fit_device_call {
    const char *kernel;
    fit_gpu_plain *plain; /* NULL: fit_gpu_total */
    size_t grid[3];
    void *buffer[10];
    unsigned nbuffer;
};
int fit_device_run(struct fit_device_module *m, const struct fit_device_call *call);

/* Use of the device and of those that share sums with it, or of it alone: calls and launches of sums (a sum that they
 * share counts for the first), and why it was not used, or not to the end ("": nothing to say). */
struct fit_device_tally {
    size_t calls, launches;
    char why[240];
};
struct fit_device_tally fit_device_tally(struct fit_device *d);
struct fit_device_tally fit_device_tally_alone(struct fit_device *d);
void fit_device_add(struct fit_device *d, size_t calls); /* a launch; the caller has the lock */
void fit_device_say(struct fit_device *d, const char *why);

/* So many fits of small data run concurrently; their simultaneous requests become one launch. 1 at first. */
void fit_device_expect(struct fit_device *d, size_t fits);
size_t fit_device_expected(const struct fit_device *d);

/* The same from a program that runs so many fits until its end: none of them adds fits of its own. */
void fit_device_crowd(struct fit_device *d, size_t fits);

/* Number of threads for n independent fits, which would be so many without a device: with one, as many as there are
 * fits, up to a launch, because they wait for it most of the time. Announces them as concurrent fits. */
int fit_device_threads(int threads, size_t n);

/* Sum of the FIT_GPU_THREADS leaves, in the order of fit_gpu_total; overwrites them. */
double fit_device_tree(double *leaf);

/* One user at a time. */
void fit_device_lock(struct fit_device *d);
void fit_device_unlock(struct fit_device *d);
