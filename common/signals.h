/* signals.h -- signals that tell a program to end.
 *
 * These are SIGINT and SIGTERM; SIGHUP, when the terminal is closed (unless it is ignored, as under nohup); SIGXCPU
 * at the limit of processor time, every second from then on; SIGUSR1 and SIGUSR2, which batch systems can send
 * before a limit. SIGXFSZ is ignored: writing beyond the limit of file sizes then fails with a message. */
#ifndef COMMON_SIGNALS_H
#define COMMON_SIGNALS_H

#include <stdatomic.h>

void signals_catch(void (*handler)(int));

/* Catches them for a program with a single task: *interrupted is set while *looks says that the command polls it;
 * otherwise, and at the second insistent signal, the program ends at once with 130. */
void signals_catch_for(atomic_int *interrupted, const atomic_int *looks);

/* Is it an insistent signal, sent by a person? The second of these ends the program at once; the others are
 * repeated, or come together. */
int signals_insists(int number);

#endif
