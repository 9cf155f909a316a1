/* program/cost.h - a guess, from its text, at how much work one element is. */
#ifndef KN_PROGRAM_COST_H
#define KN_PROGRAM_COST_H

#include "program/stages.h"

/* Calls of mathematical functions that take tens of instructions; those in loops count several times. */
int kn_cost_functions(const kn_program *program);
int kn_cost_stage_functions(const kn_program *program, int stage);

#endif
