/* program/cost.h - an estimate, from its text, of the work for one element. */
#ifndef KN_PROGRAM_COST_H
#define KN_PROGRAM_COST_H

#include "program/stages.h"

/* The number of calls of mathematical functions that take tens of instructions; those in loops count several
 * times. */
int kn_cost_functions(const kn_program *program);
int kn_cost_stage_functions(const kn_program *program, int stage);

#endif
