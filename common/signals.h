/* signals.h -- the signals that ask a program to end.
 *
 * SIGINT and SIGTERM; SIGHUP, when the terminal is closed (unless it is ignored, as under nohup); SIGXCPU at the limit
 * of processor time, every second from then on; SIGUSR1 and SIGUSR2, which batch systems are asked to send before a
 * limit. SIGXFSZ is ignored: writing beyond the limit of file sizes then fails with a message. */
#ifndef COMMON_SIGNALS_H
#define COMMON_SIGNALS_H

#include <stdatomic.h>

void signals_catch(void (*handler)(int));

/* Catches them for a program that does one thing: *interrupted is set where *looks says that the command looks at it;
 * else, and at the second insisting one, the program ends at once with 130. */
void signals_catch_for(atomic_int *interrupted, const atomic_int *looks);

/* Is it a signal of somebody who wants an end?  The second of these is not to be waited with; the others repeat, or
 * come in company. */
int signals_insists(int number);

#endif
