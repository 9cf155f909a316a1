/* schedules/rowprog/row_space.h - what the kinds share that compute row programs: any stages over the
 * elements of a row and over what is reduced of them, a row being all that is reduced to one result. */
#ifndef KN_SCHEDULES_ROWPROG_ROW_SPACE_H
#define KN_SCHEDULES_ROWPROG_ROW_SPACE_H

#include "schedule/kind.h"

/* ---- the program ---- */

bool kn_stage_gives(const kn_stage *stage, int value);
/* Whether the value has an element for each of the space: some stage over all reads it, if it is an input, or
 * gives it. */
bool kn_row_is_wide(const kn_program *program, int value);
/* Whether a stage of that kind reads the value, from stage `first` on. */
bool kn_row_is_read(const kn_program *program, int value, kn_over over, int first);
/* The first stage over all that reads the value; the number of stages where none does. */
int kn_row_first_read(const kn_program *program, int value);
/* The first stage that reduces; the number of stages where none does. */
int kn_row_first_reduce(const kn_program *program);

/* Whether the value is an input that some stage over all reads before anything is reduced. */
bool kn_row_is_early(const kn_program *program, int value);

/* The stages over all (bits) that have to run for the values that `wanted` marks; marks what these read. */
uint32_t kn_row_stages_for(const kn_program *program, bool *wanted);

/* ---- the space ---- */

/* How vectors along the row lie. */
typedef enum kn_row_fit {
    KN_ROW_SINGLE,  /* some operand does not run along it, or they disagree: elements one by one */
    KN_ROW_SHIFTED, /* a row begins or ends off a vector's boundary, all operands' by the same */
    KN_ROW_ALIGNED, /* rows are whole vectors */
    KN_ROW_FULL,    /* and all threads have as many as can be: nobody asks whether there is one */
    KN_ROW_NEARLY,  /* added to the others: all threads hold something, and nobody asks but for the last
                       quarter */
    KN_ROW_OWN = KN_ROW_NEARLY + KN_ROW_FULL /* each thread has a row by itself */
} kn_row_fit;

/* Elements of 16 bytes of the widest operand that is read or written for each row anew. */
int kn_row_vector(const kn_choice *c);
kn_row_fit kn_row_fit_of(const kn_choice *c, int vector);
/* Elements of a row, where it is one axis; 0: it is several, or none. */
int64_t kn_row_length(const kn_choice *c);
/* Vectors of a row, at most: one that begins anywhere has a part of one at each end. */
int64_t kn_row_items(int64_t length, int vector, kn_row_fit fit);
/* Bytes of an element of all early inputs that run along the row, at most; of single elements (vector 1)
 * of all. */
int kn_row_early_bytes(const kn_choice *c, int vector);
/* The most elements of a row that a thread can hold in registers, a power of two. */
int kn_row_most_held(const kn_choice *c);
/* Bytes of an element that stages over all give it and that are needed after a later reduction; of a
 * struct more than fit anywhere. */
int64_t kn_row_given_across(const kn_choice *c);
/* Letters of the operands: vectors, one element repeated, or elements one by one; and whether `_J` is the
 * element. */
void kn_row_set_access(kn_schedule *out, const kn_choice *c);
/* The most blocks of a cluster; 1 where there are none. */
int kn_row_largest_cluster(const kn_target *target);
/* Bytes of a vector of every input that is staged in shared memory, as kernels lay them out. */
int kn_row_staged_bytes(const kn_spec *spec);
/* For `place`: asks for more than the driver's usual shared memory, where `beside` bytes of the kernel's own
 * need it too. */
void kn_row_ask_shared(kn_placement *out, unsigned beside);
/* Items of a thread that it has where rows are nearly full. */
int kn_row_whole(int items);
/* Warps of a block, and more up to a power of two. */
int kn_row_warps(unsigned threads);

#endif
