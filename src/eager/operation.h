/* eager/operation.h - the list of operations, and their variants as programs. */
#ifndef KN_EAGER_OPERATION_H
#define KN_EAGER_OPERATION_H

#include "kernel/kernel.h"
#include "ops/variant.h"

/* ---- operation_list.c: the table, and what was registered. Under KN_LOCK_OPERATIONS ---- */

/* NULL beyond the last operation. Lives as long as the library. */
const kiln_operation *kn_operation_at(int index);
/* The first definition of this name with a variant that takes inputs of these dtypes; NULL: none. */
const kiln_operation *kn_operation_find(kn_variant *variant, const char *name, const kiln_dtype *in,
                                        int n_in);
/* The same for arguments. A weak number gets the dtype that the arrays beside it ask for. A whole number
 * that this dtype does not hold is taken as it is if the results keep their dtypes: in comparisons and
 * quotients. array: dtypes of the arrays. dtype: receives the dtypes assumed for the inputs. NULL: none; a
 * definition without a map has no meaning for these inputs. */
const kiln_operation *kn_operation_choose(kn_variant *variant, kiln_dtype *dtype, const char *name,
                                          const kiln_arg *in, const kiln_dtype *array, int n_in);
/* The same for results of a dtype, NumPy's dtype=: what kn_operation_choose finds if it has that, else the
 * first variant to which the inputs may be cast. */
const kiln_operation *kn_operation_choose_result(kn_variant *variant, kiln_dtype *dtype, const char *name,
                                                 const kiln_arg *in, const kiln_dtype *array, int n_in,
                                                 kiln_dtype result, kn_casting casting);
/* True if the table has this name. */
bool kn_operation_is_of_table(const char *name);
/* True if this definition's reduce, or accumulate, is there (operation_methods.h). */
bool kn_operation_is_derived(const kiln_operation *of, bool accumulates);
/* Adds a copy, which is found by name as those that are registered are, but not listed. */
kiln_status kn_operation_add_derived(const kiln_operation *of, const kiln_operation *definition);
/* Forgets the registered operations, and what was derived. */
void kn_operations_free(void);

/* ---- operation.c ---- */

/* Forgets registered operations and all kernels, at the end of the library. No thread may be using them. */
void kn_operations_forget(void);

/* ---- operation_program.c ---- */

kiln_status kn_operation_params(kn_param *param, int *n_in, int *n_out, const kiln_operation *d);
/* Flags, compiler options and headers of the operation, which each of its kernels has. */
void kn_operation_put_options(kiln_kernel_options *out, const kiln_operation *d);
/* The bound that input k is, for an operation whose first input has the dtype `of`. In NumPy's clip(uint8,
 * -5, 300) neither is a bound. */
kn_bound kn_operation_bound(const kiln_operation *d, int k, kiln_dtype of);
/* The same for an operation that has KN_OP_BOUNDS. */
kn_bound kn_clip_bound(int k, kiln_dtype of);
/* True if it scans: its results have the shape of its inputs. */
bool kn_operation_scans(const kiln_operation *d);
/* True if results that calls allocate are always in C order, as those of NumPy's argmin and argmax. */
bool kn_operation_is_in_c_order(const kiln_operation *d);
/* Inputs and outputs of other dtypes than the variant's are converted. */
kiln_status kn_operation_program(kn_program **out, const kiln_operation *d, const kn_variant *v);

#endif
