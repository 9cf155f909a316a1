/* program/extreme.h - the texts of an operation that finds the place of an extreme, and programs that are
 * one. */
#ifndef KN_PROGRAM_EXTREME_H
#define KN_PROGRAM_EXTREME_H

#include "program/stages.h"

/* `after` says of two numbers that the second comes first, or that they are equal. Selects by one comparison
 * each: g++ 12 makes no vectors of three that are combined, which take ten times as long. Where b's elements
 * follow a's no indices are compared. */
#define KN_PLACE_TEXT(after)                                                                                 \
    "struct best { T value; _index at; };\n"                                                                 \
    "__device__ __forceinline__ best better(const best a, const best b, const bool follows) {\n"             \
    "    if (follows) {\n"                                                                                   \
    "        const bool stays = b.value " after " a.value || kn_is_nan(a.value);\n"                          \
    "        return {stays ? a.value : b.value, stays ? a.at : b.at};\n"                                     \
    "    }\n"                                                                                                \
    "    const _index first = a.at < b.at ? a.at : b.at;\n"                                                  \
    "    const _index unless_b = a.value " after " b.value ? first : a.at;\n"                                \
    "    const _index of_numbers = b.value " after " a.value ? unless_b : b.at;\n"                           \
    "    const _index of_nan = !kn_is_nan(b.value) ? a.at : first;\n"                                        \
    "    const T value = b.value " after " a.value ? a.value : b.value;\n"                                   \
    "    return {!kn_is_nan(a.value) ? value : a.value, !kn_is_nan(a.value) ? of_numbers : of_nan};\n"       \
    "}\n"

/* The first of several numbers that is the greatest, or the least; a NaN is both. */
typedef enum kn_extreme { KN_NO_EXTREME, KN_GREATEST, KN_LEAST } kn_extreme;

/* The extreme whose place the program finds: its one reduction has these texts, and elements are those of its
 * only input, which is not computed. KN_NO_EXTREME: it is another one. */
kn_extreme kn_body_is_place(const kn_program *program);

/* The preamble has such operations, and nothing else. */
bool kn_program_finds_places(const kn_program *program);

/* The length of what the text of such a program begins with, if that is an index among the reduced elements,
 * the place that was found, or how two lie: whole numbers that no number was converted to; else 0. */
size_t kn_place_length(const char *text);

#endif
