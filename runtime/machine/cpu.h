/* cpu.h -- what the processor can. */
#pragma once

/* 1 when this machine can run code compiled for the level: "x86-64-v2", -v3, -v4 (x86-64 psABI); "aarch64-sve256":
 * vectors of SVE that are as long as that, no longer; names of other machines are taken to be the machine's own. */
int fit_cpu_supports(const char *isa);
