/* program/draws.h - calls in texts that draw random numbers of which neighbours share a block
 * (codegen/prelude/both_random.cpp). */
#ifndef KN_PROGRAM_DRAWS_H
#define KN_PROGRAM_DRAWS_H

#include "base/str.h"
#include "program/stages.h"

/* Number k of these functions' names; NULL: there are no more. */
const char *kn_draw_name(int k);

/* True if the text calls one of them, and no name of the program's own hides that function. */
bool kn_text_draws(const kn_program *program, const char *text);

/* Appends the text, in which these calls have a word in front of their key, `kn_drawn_0 = ` for the first
 * one: the block that a thread keeps for this place. *count: the number of the next place, up to `most`. */
void kn_draws_number(kn_str *out, const kn_program *program, const char *text, int *count, int most);

#endif
