/* schedules/rowprog/row_stages.h - a row program's stages as levels, each of which ends with a reduction,
 * except the last.
 *
 * Held: values that a level gives each element and a later one needs are stored, and each stage runs once.
 * Recomputed: each level computes again the values that it needs of earlier levels. */
#ifndef KN_SCHEDULES_ROWPROG_ROW_STAGES_H
#define KN_SCHEDULES_ROWPROG_ROW_STAGES_H

#include "codegen/writer.h"
#include "schedules/rowprog/row_space.h"

typedef struct kn_level {
    int begin, end;  /* stages; the one at `end` reduces, if there is one */
    uint32_t stages; /* over all elements, that it runs: bits */
    bool is_recomputed, is_last;
    bool is_from_stage; /* inputs are in shared memory, not in registers */
} kn_level;

/* The level that begins with that stage. */
kn_level kn_level_from(const kn_writer *w, int begin, bool is_recomputed);

/* Arrays with an element for each of the row's. */
bool kn_is_wide_array(const kn_writer *w, int k);
/* True if a stage of the level reads the value. */
bool kn_level_reads(const kn_writer *w, const kn_level *level, int value);
/* True if the level stores the array: the last level, or, if stages run once, the one that gives it. */
bool kn_level_stores(const kn_writer *w, const kn_level *level, int k);
/* True if a stage of the level gives the value. */
bool kn_level_gives(const kn_writer *w, const kn_level *level, int value);
/* True if each element's value is stored until a later level needs it. */
bool kn_is_held_value(const kn_writer *w, int value);

/* Names of an element's values and indices. `in_front` and `behind` enclose the name of a stored value:
 * "kn_in." and "[kn_k]". */
typedef struct kn_element_places {
    kn_place_writer place;
    const char *in_front, *behind;
    const char *index;   /* of an index's operand: "kn_here.at[%d] + kn_e", times its stride */
    const char *element; /* "kn_e", never negative: `_J`, if it counts the elements of a row; or NULL */
} kn_element_places;
/* Runs the level's stages for an element: declarations of its values, and calls. */
void kn_put_level_stages(const kn_writer *w, kn_str *out, const kn_level *level, const kn_element_places *at);
/* "float32 kn_value_sum;", or, for several rows side by side, "float32 kn_value_sum_of[4];". */
void kn_put_declaration(const kn_writer *w, kn_str *out, int value);
/* The declared variable: "kn_value_sum", "kn_value_sum_of". */
void kn_put_row_value(const kn_writer *w, kn_str *out, int value);

/* True if a thread has a vector of rows side by side: column kn_k of it is a row by itself, with values of
 * its own. */
bool kn_has_columns(const kn_writer *w);

/* ---- what runs once for a row ---- */

/* A result of the row, which is a variable until the row is done. */
void kn_place_of_row(const kn_writer *w, kn_str *out, int k);
/* All levels, in slot `levels`: for each the stages that run once for a row, which read none of its elements,
 * then those for each element and the reduction, then the identity if the row is empty (kn_is_empty). */
typedef void (*kn_level_writer)(const kn_writer *w, kn_str *out, const kn_level *level);
void kn_put_levels(kn_writer *w, bool is_recomputed, kn_level_writer put_reduction, kn_level_writer put_last);
/* Variables of the row's results, in slot `row`, and their stores, if `condition` holds (NULL: always). */
void kn_put_row_results(kn_writer *w, const char *condition);

#endif
