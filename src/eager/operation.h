/* eager/operation.h - the list of operations, and their variants as programs. */
#ifndef KN_EAGER_OPERATION_H
#define KN_EAGER_OPERATION_H

#include "kernel/kernel.h"
#include "ops/variant.h"

/* ---- operation_list.c: the table, and what was registered. Under KN_LOCK_OPERATIONS ---- */

/* NULL beyond the last. Lives as long as the library. */
const kiln_operation *kn_operation_at(int index);
/* The first definition of this name, and its variant, that takes inputs of these dtypes; NULL. */
const kiln_operation *kn_operation_find(kn_variant *variant, const char *name, const kiln_dtype *in,
                                        int n_in);
/* The same for arguments: weak numbers have the dtype that the arrays beside them ask for. Whole ones that
 * it does not hold are taken as they are where the results have the same dtypes then: in comparisons and
 * in quotients. array: dtypes of the arrays. dtype: what the inputs were taken for. NULL; a definition
 * without a map has no meaning for them. */
const kiln_operation *kn_operation_choose(kn_variant *variant, kiln_dtype *dtype, const char *name,
                                          const kiln_arg *in, const kiln_dtype *array, int n_in);
/* What was registered is forgotten. */
void kn_operations_free(void);

/* ---- operation.c ---- */

/* That, and all kernels: for the end of the library. No thread may be using them. */
void kn_operations_forget(void);

/* ---- operation_program.c ---- */

kiln_status kn_operation_params(kn_param *param, int *n_in, int *n_out, const kiln_operation *d);
/* Which bound input k is of an operation whose first input has the dtype `of`: neither bounds anything in
 * NumPy's clip(uint8, -5, 300). */
kn_bound kn_operation_bound(const kiln_operation *d, int k, kiln_dtype of);
/* The same of an operation that has KN_OP_BOUNDS. */
kn_bound kn_clip_bound(int k, kiln_dtype of);
/* Whether results that calls allocate are C-ordered whatever is asked for, as those of NumPy's argmin and
 * argmax are. */
bool kn_operation_is_in_c_order(const kiln_operation *d);
/* Inputs and outputs of other dtypes than the variant's are converted. */
kiln_status kn_operation_program(kn_program **out, const kiln_operation *d, const kn_variant *v);

#endif
