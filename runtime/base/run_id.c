/* run_id.c -- the identity of the run that has written a file; see run_id.h. */
#include "base/run_id.h"

#include "common/unique.h"

_Static_assert((int)FIT_RUN_ID == (int)UNIQUE_ID, "one kind of names");

void fit_run_id_new(char id[FIT_RUN_ID])
{
    unique_id(id);
}
