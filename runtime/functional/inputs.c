/* inputs.c -- a list of named inputs. */
#include "functional/inputs.h"

#include <string.h>

static struct fit_input *find(const struct fit_inputs *in, const char *name, enum fit_input_kind kind)
{
    for (size_t k = 0; k < in->n; k++)
        if (in->input[k].kind == kind && strcmp(in->input[k].name, name) == 0)
            return &in->input[k];
    return NULL;
}

const struct fit_input *fit_inputs_find(const struct fit_inputs *in, const char *name, enum fit_input_kind kind)
{
    return find(in, name, kind);
}

void fit_inputs_put(struct fit_inputs *in, struct fit_input input)
{
    struct fit_input *old = find(in, input.name, input.kind);
    if (old) {
        input.name = old->name;
        *old = input;
        return;
    }
    struct fit_input *more = fit_take_more(&in->arena, in->input, in->n, sizeof *more);
    if (!more)
        return;
    in->input = more;
    input.name = fit_arena_string(&in->arena, input.name);
    if (input.name)
        in->input[in->n++] = input;
}

void fit_inputs_free(struct fit_inputs *in)
{
    fit_arena_free(&in->arena);
    *in = (struct fit_inputs){.n = 0};
}
