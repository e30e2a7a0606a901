/* cpu.h -- the capabilities of the processor. */
#pragma once

/* 1 when this machine can run code compiled for the level: "x86-64-v2", -v3, -v4 (x86-64 psABI); "aarch64-sve256":
 * SVE vectors of exactly this length; other names are assumed to be those of the machine itself. */
int fit_cpu_supports(const char *isa);
