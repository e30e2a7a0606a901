/* signals.h -- the signals that ask a program to end.
 *
 * SIGINT and SIGTERM; SIGHUP, when the terminal is closed (unless it is ignored, as under nohup); SIGXCPU at the limit
 * of processor time, every second from then on; SIGUSR1 and SIGUSR2, which batch systems are asked to send before a
 * limit. SIGXFSZ is ignored: writing beyond the limit of file sizes then fails with a message. */
#ifndef COMMON_SIGNALS_H
#define COMMON_SIGNALS_H

void signals_catch(void (*handler)(int));

/* Is it a signal of somebody who wants an end?  The second of these is not to be waited with; the others repeat, or
 * come in company. */
int signals_insists(int number);

#endif
