/* cpu.c -- levels of x86-64 (psABI) that the processor and the system can run. */
#include "machine/cpu.h"

#include <string.h>

#if defined(__x86_64__)
static int has_v2(void)
{
    return __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("sse4.1") &&
           __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
}

static int has_v3(void)
{
    return has_v2() && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}

static int has_v4(void)
{
    return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

int fit_cpu_supports(const char *isa)
{
    __builtin_cpu_init();
    if (strcmp(isa, "x86-64-v4") == 0)
        return has_v4();
    if (strcmp(isa, "x86-64-v3") == 0)
        return has_v3();
    if (strcmp(isa, "x86-64-v2") == 0)
        return has_v2();
    return 1;
}
#else
int fit_cpu_supports(const char *isa)
{
    return strncmp(isa, "x86-64", 6) != 0;
}
#endif
