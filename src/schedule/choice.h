/* schedule/choice.h - questions of kinds about a space and its operands when they choose (CUDA). */
#ifndef KN_SCHEDULE_CHOICE_H
#define KN_SCHEDULE_CHOICE_H

#include "schedule/schedule.h"

/* Elements of a thread that computes the places of gathered inputs; more only where each input is contiguous
 * or broadcast along rows of a vector at least. */
enum { KN_MAX_LOCATED = 8 };

/* The fastest axis. */
int kn_choice_inner(const kn_choice *c);
/* The user's wish, else the usual number of threads. */
int kn_choice_block(const kn_choice *c);

/* True if the operand is contiguous with this innermost stride: item_size bytes, or 1 for the index. */
bool kn_choice_is_contiguous(const kn_space *space, int operand, int64_t stride);
bool kn_choice_is_dense(const kn_choice *c, int operand);
/* True if all operands are contiguous, the logical index too: results that are written backwards count it
 * down. */
bool kn_choice_is_flat(const kn_choice *c);

/* Bytes of the widest result or input; 0 where there is none. */
int kn_choice_widest(const kn_choice *c, bool outputs);
/* Arrays that are inputs: their number, and the bytes of an element of each together. */
int kn_choice_inputs(const kn_choice *c);
int kn_choice_input_bytes(const kn_choice *c);
/* Elements a thread: each result is stored in one access of the widest size, and no input takes more than
 * four of them. 1 where nothing is stored in the space: the snippet stores by itself. */
int kn_choice_vector(const kn_choice *c);
/* Alignment of a vector's address, in bytes. */
int kn_choice_alignment(const kn_choice *c, int operand, int vector);
/* True if the operand's address and its strides along all axes but this one (-1: along all) are multiples of
 * so many bytes. */
bool kn_choice_is_aligned(const kn_choice *c, int operand, int but, int64_t bytes);
/* Bytes of the operand in memory: elements that are broadcast count only one time. */
int64_t kn_choice_footprint(const kn_choice *c, int operand);
/* True if the operand can be accessed at the places that its strides give: one vector each, or, for an input
 * with stride 0 along the fastest axis, one element repeated. */
bool kn_choice_is_vector(const kn_choice *c, int operand, int vector);
bool kn_choice_has_vector_input(const kn_choice *c, int vector);
/* Misalignment: elements by which the results are off a vector's boundary, the same for all of them; -1 where
 * they disagree. */
int kn_choice_misalignment(const kn_choice *c, int vector);
/* True if a dense operand's vectors begin where the results' do. */
bool kn_choice_agrees(const kn_choice *c, int operand, int vector, int misalignment);
/* True if the offsets of a vector's elements fit 32 bits. */
bool kn_choice_is_near(const kn_choice *c, int vector);
/* Capacity for axes of the argument block: few values, few binaries. */
int kn_choice_rank(int ndim);

/* ---- inputs that are contiguous along another axis than the results ---- */

/* Capacity for axes of the argument blocks of kernels that stage a part of an input in shared memory. */
enum { KN_STAGED_RANK = 16 };
/* The axis along which the operand is contiguous, where that is not the fastest and the operand moves along
 * the fastest too; -1. */
int kn_choice_contiguous_axis(const kn_choice *c, int operand);
/* True if the input is small beside another one, which should not be gathered for its sake. */
bool kn_choice_stays_near(const kn_choice *c, int operand);
/* The axis along which such an input is contiguous, if it is not small; -1 where there is none, or where it
 * or the fastest is too short. */
int kn_choice_transposed_axis(const kn_choice *c);
/* The axis along which all results continue contiguously after the fastest axis; -1. */
int kn_choice_next_of_results(const kn_choice *c);
/* Contiguous elements along the axis and, where the operand continues there, the next one. */
int64_t kn_choice_side(const kn_choice *c, int operand, int axis);
/* True if the axis is narrow, and no operand spans so many bytes along it that a launch would have to cut
 * it. */
enum { KN_MOST_CHANNELS = 16 };
bool kn_choice_is_narrow(const kn_choice *c, int axis);
enum { KN_SHORTEST_SIDE = 8 }; /* elements along both axes of a transposed input */
/* True if offsets along the axis and indices along all of them fit 32 bits. */
bool kn_choice_fits_transposed(const kn_choice *c, int axis, int vector);

#endif
