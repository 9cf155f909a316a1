/* schedules/rowprog/row_stages.h - a row program's stages as levels, each of which a reduction ends, but for
 * the last.
 *
 * Held: what a level gives each element and a later one needs stays where it is, and each stage runs once.
 * Walked: each level computes again what it needs of the levels before. */
#ifndef KN_SCHEDULES_ROWPROG_ROW_STAGES_H
#define KN_SCHEDULES_ROWPROG_ROW_STAGES_H

#include "codegen/writer.h"
#include "schedules/rowprog/row_space.h"

typedef struct kn_level {
    int begin, end;  /* stages; the one at `end` reduces, if there is one */
    uint32_t stages; /* over all, that it runs: bits */
    bool is_walked, is_last;
} kn_level;

/* The level that begins with that stage. */
kn_level kn_level_from(const kn_writer *w, int begin, bool is_walked);

/* Arrays with an element for each of the row's. */
bool kn_is_wide_array(const kn_writer *w, int k);
/* Whether the level's stages read it. */
bool kn_level_reads(const kn_writer *w, const kn_level *level, int value);
/* Whether a level stores what it gives: the last one, or, where stages run once, each. */
bool kn_level_stores(const kn_writer *w, const kn_level *level, int k);
/* Whether the level gives it, to its own stages or to later ones. */
bool kn_level_gives(const kn_writer *w, const kn_level *level, int value);
/* Whether what the program's stages give each element stays until a later level needs it. */
bool kn_is_held_value(const kn_writer *w, int value);

/* Runs the level's stages for an element: variables of its own values, calls. `held` is what stands behind
 * the name of a value that stays: "[kn_k]"; `in_front` of it: "kn_in.". */
typedef struct kn_element_places {
    kn_place_writer place;
    const char *in_front, *behind;
    const char *index;   /* of an index's operand: "kn_here.at[%d] + kn_e", times its step */
    const char *element; /* "kn_e", never negative: `_J`, where the row goes in its order; or NULL */
} kn_element_places;
void kn_put_level_stages(const kn_writer *w, kn_str *out, const kn_level *level, const kn_element_places *at);
/* What is folded of the element. */
void kn_put_folded(const kn_writer *w, kn_str *out, const kn_level *level);
/* "float32 kn_value_sum;", or, of several rows side by side, "float32 kn_value_sum_of[4];". */
void kn_put_declaration(const kn_writer *w, kn_str *out, int value);
/* The declared variable: "kn_value_sum", "kn_value_sum_of". */
void kn_put_row_value(const kn_writer *w, kn_str *out, int value);

/* Whether a thread has a vector of rows side by side, and so of each value of a row as many: column kn_k of
 * them is a row by itself. */
bool kn_has_columns(const kn_writer *w);

/* ---- what runs once for a row ---- */

/* "*(const float *)((const char *)kn.w_ + kn_here.at[1])" */
void kn_put_of_row(const kn_writer *w, kn_str *out, int k);
/* A result of the row is a variable until the row is done. */
void kn_place_of_row(const kn_writer *w, kn_str *out, int k);
/* All levels, in slot `levels`. Of each first the stages that run once, which need nothing of its
 * elements; then what is done with these; then what nothing is reduced to: kn_is_empty tells. */
typedef void (*kn_level_writer)(const kn_writer *w, kn_str *out, const kn_level *level);
void kn_put_levels(kn_writer *w, bool is_walked, kn_level_writer put_reduction, kn_level_writer put_last);
/* Variables of the row's results, in slot `row`, and their stores, where `condition` holds (NULL: always). */
void kn_put_row_results(kn_writer *w, const char *condition);

#endif
