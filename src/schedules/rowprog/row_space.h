/* schedules/rowprog/row_space.h - questions of row programs about a program and a space. A row is all
 * elements that are reduced to one result. */
#ifndef KN_SCHEDULES_ROWPROG_ROW_SPACE_H
#define KN_SCHEDULES_ROWPROG_ROW_SPACE_H

#include "schedule/kind.h"
#include "schedule/layout.h"

/* Members that the values of all kinds of row programs have. */
#define KN_ROW_KIND .pattern = "*", .choose = choose, .place = place, .has_wide_axes = true

/* ---- the program ---- */

bool kn_stage_gives(const kn_stage *stage, int value);
/* True if the value has an element for each of the space: a stage over all elements gives it, or, if it is an
 * input, reads it. */
bool kn_row_is_wide(const kn_program *program, int value);
/* True if a stage over all elements reads the value, from stage `first` on. */
bool kn_row_is_read(const kn_program *program, int value, int first);
/* The first stage over all elements that reads the value; the number of stages if none does. */
int kn_row_first_read(const kn_program *program, int value);

/* True if the value is an input that a stage over all elements reads before the first reduction. */
bool kn_row_is_early(const kn_program *program, int value);

/* The stages over all elements (bits) that the values marked in `wanted` need; marks the values that they
 * read. */
uint32_t kn_row_stages_for(const kn_program *program, bool *wanted);

/* ---- the space ---- */

/* Alignment of vectors along the row. */
typedef enum kn_row_fit {
    KN_ROW_SINGLE,    /* some operand is not contiguous along it, or they disagree: single elements */
    KN_ROW_UNALIGNED, /* rows begin or end off a vector's boundary, with one misalignment for all operands */
    KN_ROW_ALIGNED,   /* rows are whole vectors */
    KN_ROW_FULL,      /* the same, and all threads hold all their items: kernels test none */
    KN_ROW_OWN,       /* the same, and each thread has a row by itself */
    KN_ROW_ALONE,     /* each thread has a row by itself, which may have fewer items than a thread can hold */
    KN_ROW_FULL_INPUTS /* as KN_ROW_FULL, of inputs alone: levels compute values again */
} kn_row_fit;

/* The configuration of kinds that hold a row.
 * items: vectors of a thread, in registers.
 * nearly_full: kernels test only the last quarter of a thread's items.
 * pieces: rows lie along two axes, in pieces of whole vectors.
 * turns: rows of a thread, one after the other, if their warp stages them; 0: they are not staged. */
#define KN_ROW_CONFIG(X) X(items, 1024) X(fit, KN_ROW_FULL_INPUTS) X(nearly_full, 1) X(pieces, 1) X(turns, 4)
KN_CONFIG(kn_row_config, KN_ROW_CONFIG);

/* Elements in 16 bytes of the widest operand of which each row has other elements. */
int kn_row_vector(const kn_choice *c);
kn_row_fit kn_row_fit_of(const kn_choice *c, int vector);
/* Elements of a row, if it is one axis; 0: it is several, or none. */
int64_t kn_row_length(const kn_choice *c);
/* The same of kinds that take rows in pieces, if `is_pieced`: the row is two axes, and not short. */
int64_t kn_row_length_in_pieces(bool *is_pieced, const kn_choice *c);
/* Vectors of a row, at most: an unaligned row has a partial one at each end. */
int64_t kn_row_items(int64_t length, int vector, kn_row_fit fit);
/* True if the program writes elements along the row. */
bool kn_row_writes(const kn_choice *c);
/* For `place`: the elements of a piece, where the axes stand as kernels have them. */
kn_divider kn_row_per_piece(const kn_space *axes);
/* Bytes of an element of all early inputs that are not broadcast along the row, at most; of all early inputs
 * if elements are single (vector 1). */
int kn_row_early_bytes(const kn_choice *c, int vector);
/* The most elements of a row that a thread can hold in registers, a power of two. */
int kn_row_most_held(const kn_choice *c);
/* The same where inputs alone are held. */
int kn_row_most_inputs_held(const kn_choice *c);
/* Bytes of an element of what is needed on both sides of a reduction, or of all early inputs if that is more;
 * inputs alone if values are computed again. */
int kn_row_held_bytes(const kn_choice *c, bool recomputes);
/* Bytes of an element's values that stages give it and that are needed after a later reduction; for a struct
 * more than fit anywhere. */
int64_t kn_row_given_across(const kn_choice *c);
/* Letters of the operands: vectors, one element repeated, or single elements; and whether `_J` counts the
 * elements of a row. */
void kn_row_set_access(kn_schedule *out, const kn_choice *c);
/* The most blocks of a cluster; 1 if there are no clusters. */
int kn_row_largest_cluster(const kn_target *target);
/* Bytes of a vector of every input that is staged in shared memory, as kernels lay them out. */
int kn_row_staged_bytes(const kn_spec *spec);
/* For `place`: asks for more than the driver's usual shared memory, where `beside` bytes of the kernel's own
 * need it too. */
void kn_row_ask_shared(kn_placement *out, unsigned beside);
/* Items that a thread has for certain if rows are nearly full. */
int kn_row_whole(int items);
/* kn_kind.rows_loaded of kinds whose warps read whole sectors of every operand. */
int kn_row_loads_sectors(const kn_schedule *s, int64_t length);
/* Warps of a block, rounded up to a power of two. */
int kn_row_warps(unsigned threads);

#endif
