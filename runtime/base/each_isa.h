/* each_isa.h -- compiles a function once for each instruction set; the choice is made when the program starts. Not
 * under sanitizers, whose run-time library is not ready at that moment. */
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define EACH_ISA __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define EACH_ISA
#endif
