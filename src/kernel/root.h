/* kernel/root.h - roots of covariances: Cholesky's triangular matrices. */
#ifndef KN_KERNEL_ROOT_H
#define KN_KERNEL_ROOT_H

#include <kiln/kernel.h>

/* A remembered kernel, one more reference: of a symmetric matrix `cov` of float64, whose lower triangle is
 * read, the upper triangular `root` for which root.T @ root is cov. A matrix that is only semidefinite has
 * one, too; elements are NaN where no real root exists. */
kiln_status kn_root_find(kiln_kernel **out);

#endif
