#include "front.h"
enum fit_status front_cmd_batch(struct front *f, const struct front_args *a, struct fit_error *err){(void)f;(void)a;return fit_fail(err,FIT_ERR_USAGE,"not yet");}
enum fit_status front_cmd_watch(struct front *f, const struct front_args *a, struct fit_error *err){(void)f;(void)a;return fit_fail(err,FIT_ERR_USAGE,"not yet");}
