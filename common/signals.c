/* signals.c -- signals that tell a program to end; see signals.h. */
#define _XOPEN_SOURCE 700 /* SIGXCPU */
#include "common/signals.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

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

static atomic_int *to_set, asked;
static const atomic_int *looked_at;

static void on_interrupt(int number)
{
    const int second = signals_insists(number) && atomic_exchange(&asked, 1);
    if (second || !atomic_load(looked_at))
        _exit(130);
    atomic_store(to_set, 1);
}

void signals_catch_for(atomic_int *interrupted, const atomic_int *looks)
{
    to_set = interrupted;
    looked_at = looks;
    signals_catch(on_interrupt);
}
