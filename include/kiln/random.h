/*
 * kiln/random.h - random numbers by Philox4x32-10: each is a function of a key and a number.
 *
 *     kiln_random *source = NULL;
 *     kiln_random_create(&source, 42, 0);
 *     kiln_random_normal(source, x, kiln_arg_float(0), kiln_arg_float(2)); // fills x
 *     kiln_random_free(source);
 *
 * Nothing depends on the device, the launch or the layout: element i of a call, in C order, has the
 * number of counter position + i, as normal(key, position + i) of expressions and of kernels' texts
 * has it. Both targets have the same bits of random_bits, random, uniform, integers, normal,
 * exponential, laplace and logistic; the others call functions whose last bits differ.
 *
 * An element of up to 32 bits uses one word of block i / 4 of Philox's counter, one of 64 bits two
 * words of block i / 2. Functions that reject (integers where the first word is refused, gamma and
 * those that are made of it, beta, wald, vonmises, t, all counts but geometric) have blocks of the
 * element's own, which the counter's third word numbers: one or two for each attempt. An attempt
 * fails less than half of the time, but for zipf, which ends after 10,000 of them.
 */
#ifndef KILN_RANDOM_H
#define KILN_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

#include <kiln/array.h>
#include <kiln/arg.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A source of numbers: a key and a position. */
typedef struct kiln_random kiln_random;

/* A source, at position 0. Streams of one seed have different keys. Freed by kiln_random_free,
 * which takes NULL. */
KILN_NODISCARD KILN_API kiln_status kiln_random_create(kiln_random **out, uint64_t seed,
                                                       uint64_t stream);
KILN_API void kiln_random_free(kiln_random *source);

/* The key of expressions and texts which have the same numbers: the seed, of stream 0. */
KILN_API uint64_t kiln_random_key(const kiln_random *source);
/* The counter of the next call's first element; a call moves it by its elements, to the next
 * multiple of 4. Thread-safe: calls of several threads have different numbers. */
KILN_API uint64_t kiln_random_position(const kiln_random *source);
KILN_API void kiln_random_set_position(kiln_random *source, uint64_t position);

/* Fills `out`, an array of any layout, with the numbers of a distribution by its name: a function
 * of expressions (docs/guide.md). in: its parameters, numbers or arrays that broadcast to out;
 * those behind the last given one have their usual values. Real numbers are computed in float64 for
 * arrays of float64, else in float32. KILN_ERROR_INVALID for another name, a number that is no such
 * parameter, and parameters that are missing or too many; KILN_ERROR_TYPE for an array whose dtype
 * has no such numbers: real ones need floats, integers and counts no complex ones. An element of an
 * array that is no such parameter gives NaN, or -1 of a count. Errors are otherwise those of
 * kiln_kernel_call. Thread-safe. */
KILN_NODISCARD KILN_API kiln_status kiln_random_fill(kiln_random *source, kiln_array *out,
                                                     const char *name, const kiln_arg *in,
                                                     int n_in);

/* The same by functions, with their parameters in NumPy's order. [0, 1), [low, high). */
KILN_NODISCARD KILN_API kiln_status kiln_random_random(kiln_random *source, kiln_array *out);
KILN_NODISCARD KILN_API kiln_status kiln_random_uniform(kiln_random *source, kiln_array *out,
                                                        kiln_arg low, kiln_arg high);
/* Integers from low to high - 1, or, if closed, to high, each as likely. KILN_ERROR_INVALID also
 * for numbers of which none is in between, or that the dtype does not hold. */
KILN_NODISCARD KILN_API kiln_status kiln_random_integers(kiln_random *source, kiln_array *out,
                                                         kiln_arg low, kiln_arg high, bool closed);
/* All bits of integers, each as likely to be 1. */
KILN_NODISCARD KILN_API kiln_status kiln_random_bits(kiln_random *source, kiln_array *out);
/* Normal numbers. */
KILN_NODISCARD KILN_API kiln_status kiln_random_normal(kiln_random *source, kiln_array *out,
                                                       kiln_arg loc, kiln_arg scale);
/* Others, of one parameter or two; counts have any dtype that is not complex. */
KILN_NODISCARD KILN_API kiln_status kiln_random_exponential(kiln_random *source, kiln_array *out,
                                                            kiln_arg scale);
KILN_NODISCARD KILN_API kiln_status kiln_random_poisson(kiln_random *source, kiln_array *out,
                                                        kiln_arg lam);
KILN_NODISCARD KILN_API kiln_status kiln_random_gamma(kiln_random *source, kiln_array *out,
                                                      kiln_arg shape, kiln_arg scale);
KILN_NODISCARD KILN_API kiln_status kiln_random_beta(kiln_random *source, kiln_array *out,
                                                     kiln_arg a, kiln_arg b);
KILN_NODISCARD KILN_API kiln_status kiln_random_binomial(kiln_random *source, kiln_array *out,
                                                         kiln_arg n, kiln_arg p);

#ifdef __cplusplus
}
#endif

#endif
