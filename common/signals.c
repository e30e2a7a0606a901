/* signals.c -- the signals that ask a program to end; see signals.h. */
#define _XOPEN_SOURCE 700 /* SIGXCPU */
#include "common/signals.h"

#include <signal.h>
#include <stddef.h>

void signals_catch(void (*handler)(int))
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGUSR1, SIGUSR2};
    struct sigaction a = {.sa_handler = handler}, ignore = {.sa_handler = SIG_IGN}, before;
    sigemptyset(&a.sa_mask);
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
        sigaddset(&a.sa_mask, ends[k]);
    sigemptyset(&ignore.sa_mask);
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
        if (ends[k] != SIGHUP || sigaction(SIGHUP, NULL, &before) != 0 || before.sa_handler != SIG_IGN)
            sigaction(ends[k], &a, NULL);
    sigaction(SIGXFSZ, &ignore, NULL);
}

int signals_insists(int number)
{
    return number == SIGINT || number == SIGTERM;
}
