/* fuzz_checkpoint.c -- checkpoints: checkpoint.c, and sampler.c for the state of the chains.
 *
 * The first byte says what the rest is: 0 a whole file; 1 what lies between the head and the
 * checksum, which are made here, so that the counts and the arrays are reached; 2 the state of a
 * sampler of two coordinates. */
#include "fuzz.h"

#include <string.h>

#include "common/sha256.h"
#include "sampler/checkpoint.h"
#include "sampler/sampler.h"

static const char HEAD[] = "homodyne-gen checkpoint 4\n", IDENTITY[] = "data: 5f\n";

static void read_it(const char *file)
{
    struct fit_checkpoint c;
    struct fit_error err = {0};
    if (fit_checkpoint_read(file, IDENTITY, &c, &err) != FIT_OK)
        FUZZ_ASSERT(err.message[0] && !c.theta && !c.state);
    fit_checkpoint_free(&c);
}

static void read_body(const uint8_t *data, size_t size)
{
    const size_t head = strlen(HEAD), text = head + strlen(IDENTITY) + 1;
    unsigned char *bytes = malloc(text + size + SHA256_BYTES);
    struct sha256 s;
    FUZZ_ASSERT(bytes != NULL);
    memcpy(bytes, HEAD, head);
    memcpy(bytes + head, IDENTITY, strlen(IDENTITY));
    bytes[text - 1] = '\n';
    memcpy(bytes + text, data, size);
    sha256_init(&s);
    sha256_update(&s, bytes, text + size);
    sha256_final(&s, bytes + text + size);
    read_it(fuzz_file(bytes, text + size + SHA256_BYTES));
    free(bytes);
}

/* A normal distribution. */
static enum fit_eval density(void *user, size_t chain, const double *q, double *lp, double *g)
{
    (void)user;
    (void)chain;
    *lp = -(q[0] * q[0] + q[1] * q[1]) / 2;
    if (g) {
        g[0] = -q[0];
        g[1] = -q[1];
    }
    return FIT_EVAL_OK;
}

static void sum_up(unsigned char *bytes, size_t size)
{
    struct sha256 s;
    sha256_init(&s);
    sha256_update(&s, bytes, size - SHA256_BYTES);
    sha256_final(&s, bytes + size - SHA256_BYTES);
}

/* Ends a run when there are the first draws. */
static int has_draws(void *user, const struct fit_sampler *s)
{
    (void)user;
    return fit_sampler_count(s, 0) >= 3;
}

/* Triples (place, place, byte) are written over the state of a sampler with a few draws; the checksums
 * are made good, and what was loaded is run to its end. */
static void read_state(const uint8_t *data, size_t size)
{
    const struct fit_target target = {.n = 2, .eval = density};
    const struct fit_sampler_options options = {
        .chain = {.warmup = 20, .max_depth = 3}, .chains = 1, .draws = 10};
    const double mode[2] = {0};
    struct fit_sampler *s;
    FUZZ_ASSERT(fit_sampler_new(&target, &options, &s, NULL) == FIT_OK);
    FUZZ_ASSERT(fit_sampler_start(s, &(struct fit_sampler_start){.mode = mode}, NULL) == FIT_OK);
    fit_sampler_run(s, &(struct fit_sampler_watch){.watch = has_draws}, NULL);
    const size_t all = fit_sampler_state_size(s);
    unsigned char *bytes = malloc(all);
    FUZZ_ASSERT(bytes != NULL);
    fit_sampler_state_save(s, bytes);
    for (size_t k = 0; k + 3 <= size; k += 3)
        bytes[((size_t)data[k] | (size_t)data[k + 1] << 8) % all] = data[k + 2];
    sum_up(bytes, fit_chain_state_size(fit_sampler_chain(s, 0)));
    sum_up(bytes, all);
    if (fit_sampler_state_load(s, bytes, all, NULL) == FIT_OK) {
        fit_sampler_run(s, NULL, NULL);
        FUZZ_ASSERT(fit_sampler_count(s, 0) <= options.draws);
    }
    free(bytes);
    fit_sampler_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    if (data[0] == 0)
        read_it(fuzz_file(data + 1, size - 1));
    else if (data[0] == 1)
        read_body(data + 1, size - 1);
    else if (data[0] == 2)
        read_state(data + 1, size - 1);
    return 0;
}
