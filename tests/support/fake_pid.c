/* fake_pid.c -- preloaded: every process has the number 4242, as two containers may give the same one. */
#include <sys/types.h>
#include <unistd.h>

pid_t getpid(void)
{
    return 4242;
}
