/* on_device.h -- an objective that a device evaluates.
 *
 * Arrays, gradients and the numbers of operators are on the device; x goes there, and terms and gradients come back.
 * Objectives of the same sizes and operators -- images of a survey -- share the data of operators, and their
 * simultaneous requests are one launch of every phase. Sums have a fixed order: the same bits in every run, alone or
 * together. */
#pragma once

#include "functional/functional.h"

struct fit_objective_pool;

/* 1: b->term and, if wanted, b->slope of what is solved for are those of the arrays and numbers of b; 0: there is no
 * device for it, or no more. */
int fit_objective_take(struct fit_bound *b, int gradient);

/* Leaves the device. */
void fit_objective_leave(struct fit_bound *b);
