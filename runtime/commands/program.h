/* program.h -- shared by the commands of a fitter.
 *
 * main.c, the only file that prints by itself, makes a struct fit_program and passes it to one command; a command
 * writes to p->out (results) and p->err (notes) and returns a status.
 */
#pragma once

#include "base/status.h"
#include "commands/cli.h"
#include "fit/kernel.h"

#include <stdatomic.h>
#include <stdio.h>

struct fit_program {
    const char *name;                        /* "homodyne-laminar" */
    const struct fit_kernel *const *kernels; /* ended by NULL */
    int argc;
    char **argv;
    FILE *out, *err;
    int out_is_terminal, err_is_terminal;
    int cores;                   /* of this rank and those with whom it shares them; 0: they are not divided */
    const atomic_int *interrupt; /* > 0: the user asked to stop */
    int exit_code; /* set by a command that succeeds with another code than 0 */
};

/* The whole program: runs the command of argv with one of the kernels (ended by NULL) and returns the
 * exit status. */
int fit_program_main(int argc, char **argv, const struct fit_kernel *const *kernels);

/* Commands.  Each takes the parsed command line, writes its results, and returns FIT_OK or an
 * error. */
enum fit_status fit_cmd_info(struct fit_program *p, const struct fit_cli *cli,
                             struct fit_error *err);
/* `inspect` of a table (inspect_table.c), which is a text; *is_one = 0: the file is not one. */
enum fit_status fit_inspect_table(struct fit_program *p, const struct fit_cli *cli, int *is_one, struct fit_error *err);
enum fit_status fit_cmd_eval(struct fit_program *p, const struct fit_cli *cli,
                             struct fit_error *err);
enum fit_status fit_cmd_simulate(struct fit_program *p, const struct fit_cli *cli,
                                 struct fit_error *err);
enum fit_status fit_cmd_fit(struct fit_program *p, const struct fit_cli *cli,
                            struct fit_error *err);
/* `MODEL probe WORDS..`, for a program that begins many fits with the same words (`homodyne batch`): does what `fit`
 * does before its minimum, without writing and without a device. Its answer, on standard output: this line when
 * configuration and options are good, whatever the data; then errors, as of `fit`. The exit code is that of `fit`. Of
 * large data only the head is read. */
#define FIT_PROBE_GOOD "settings are good"

/* Many fits that another program asks for, one after another and at a time (fits.c). */
enum fit_status fit_cmd_fits(struct fit_program *p, struct fit_error *err);
enum fit_status fit_cmd_inspect(struct fit_program *p, const struct fit_cli *cli,
                                struct fit_error *err);
enum fit_status fit_cmd_check(struct fit_program *p, const struct fit_cli *cli,
                              struct fit_error *err);
enum fit_status fit_cmd_estimate(struct fit_program *p, const struct fit_cli *cli,
                                 struct fit_error *err);
enum fit_status fit_cmd_plan(struct fit_program *p, const struct fit_cli *cli,
                             struct fit_error *err);
enum fit_status fit_cmd_extract(struct fit_program *p, const struct fit_cli *cli,
                                struct fit_error *err);
enum fit_status fit_cmd_bench(struct fit_program *p, const struct fit_cli *cli,
                              struct fit_error *err);
enum fit_status fit_cmd_selfcheck(struct fit_program *p, const struct fit_cli *cli,
                                  struct fit_error *err);

/* The kernel that --variant and --isa choose. */
enum fit_status fit_program_kernel(const struct fit_program *p, const struct fit_cli *cli,
                                   const struct fit_kernel **kernel, struct fit_error *err);

/* ---- plan (plan.c, plan_answers.c) ----------------------------------------------------------------- */

struct fit_json;
struct planned;
struct planning; /* setup/planning.h */

/* Groups, count, shot noise of a design with frames and period: all q with all azimuths; twice: also azimuths between
 * them. */
enum fit_status fit_plan_set_groups(const struct planning *x, struct planned *p, int twice, struct fit_error *err);

/* Shot noise of a frame, from --flux and --exposure, else as configured. */
enum fit_status fit_plan_know_photons(struct planning *x, const struct fit_cli *cli, struct fit_error *err);

/* After the designs: divisions of the dose, and the answers to --want. */
enum fit_status fit_plan_answer(struct planning *x, const struct fit_cli *cli, struct fit_error *err);
void fit_plan_print_answers(const struct planning *x, FILE *f);
void fit_plan_put_answers(struct fit_json *j, const struct planning *x);
void fit_plan_free_answers(struct planning *x);
