/* program/operators.h - integers that divide by zero or shift too far: the operators of a snippet get a word
 * in front of their right operand, with which src/codegen/prelude/both_operators.cpp gives them NumPy's
 * meaning.
 *
 * x / y    x / kn_by()->* y        x << y    x << kn_by() +  y        x /= y    x /= kn_by() = y        0.0 -
 * y    0.0 - kn_by() +  y
 *
 * The last is no integer's: gcc 12 gets the sign of zero wrong there. */
#ifndef KN_PROGRAM_OPERATORS_H
#define KN_PROGRAM_OPERATORS_H

#include "base/str.h"

/* True if a line of the text is an #if or an #elif: whether macros can be guarded (below) depends on it. */
bool kn_text_has_conditions(const char *text);

/* Appends text with its words put in. Left as they are: comments, literals, #-lines, the names of operators
 * (`operator/`), template brackets that close (`>>`), and right operands that are plain numbers which cannot
 * go wrong. Macros that the text defines are guarded where in_macros says so: an #if could not evaluate them
 * afterwards. Lines stay where they are. */
void kn_operators_guard(kn_str *out, const char *text, bool in_macros);

/* Takes the words, and those of draws.h, out of a compiler's messages about such a source, and puts its
 * columns and carets right. */
void kn_operators_unguard(kn_str *log, const char *source);

/* Appends the text that #line calls by that file in such a source, as it was before the words were put in;
 * false: there is none. */
bool kn_operators_text(kn_str *out, const char *source, const char *file, size_t length);

#endif
