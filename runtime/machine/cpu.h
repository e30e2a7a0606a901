/* cpu.h -- the capabilities of the processor. */
#pragma once

/* 1 when this machine can run code compiled for the level: "x86-64-v2", -v3, -v4 (x86-64 psABI); "aarch64-sve256":
 * SVE vectors of exactly this length; other names are assumed to be those of the machine itself. */
int fit_cpu_supports(const char *isa);

/* A level is called by its name, or by what is behind a hyphen in it: "x86-64-v3", "v3". */
int fit_cpu_is_named(const char *isa, const char *word);
