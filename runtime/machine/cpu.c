/* cpu.c -- levels of x86-64 (psABI), and vector lengths of SVE (Arm), that the processor and the system can run. */
#include "machine/cpu.h"

#include <stdlib.h>
#include <string.h>
#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

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
    return strncmp(isa, "aarch64-", 8) != 0;
}
#elif defined(__aarch64__) && defined(__linux__)
/* Bits of an SVE vector; 0: the processor has none, or the system does not let programs use it. */
static long sve_bits(void)
{
    enum { HAS_SVE = 1 << 22 /* HWCAP_SVE */, GET_LENGTH = 51 /* PR_SVE_GET_VL */, LENGTH = 0xffff, BYTE = 8 };
    const int length = getauxval(AT_HWCAP) & HAS_SVE ? prctl(GET_LENGTH) : -1;
    return length < 0 ? 0 : (long)(length & LENGTH) * BYTE;
}

int fit_cpu_supports(const char *isa)
{
    static const char sve[] = "aarch64-sve";
    if (strncmp(isa, sve, sizeof sve - 1) == 0)
        return sve_bits() == strtol(isa + sizeof sve - 1, NULL, 10); /* compiled for this length alone */
    return strncmp(isa, "x86-64", 6) != 0;
}
#else
int fit_cpu_supports(const char *isa)
{
    return strncmp(isa, "x86-64", 6) != 0 && strncmp(isa, "aarch64-sve", 11) != 0;
}
#endif

int fit_cpu_is_named(const char *isa, const char *word)
{
    const size_t n = strlen(isa), m = strlen(word);
    return strcmp(isa, word) == 0 || (n > m && isa[n - m - 1] == '-' && strcmp(isa + n - m, word) == 0);
}
