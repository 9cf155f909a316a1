/*
 * kiln/kiln.h - everything: fast kernels from C strings, on CUDA devices and on the host.
 *
 *     #include <kiln/kiln.h>
 *
 *     kiln_kernel *k = NULL;
 *     kiln_array *x = NULL, *z = NULL;
 *     kiln_array_arange(&x, 0, 1000, 1, KILN_FLOAT32, KILN_DEVICE_DEFAULT);
 *     kiln_elementwise_create(&k, "T x, T y", "T z", "z = (x - y) * (x - y)", "squared", NULL);
 *     kiln_arg in[] = {kiln_arg_array(x), kiln_arg_float(5)};
 *     if (kiln_kernel_call(k, &z, 1, in, 2, NULL) != KILN_OK)
 *         fprintf(stderr, "%s\n", kiln_error_message());
 */
#ifndef KILN_KILN_H
#define KILN_KILN_H

#include <kiln/base.h>
#include <kiln/dtype.h>
#include <kiln/device.h>
#include <kiln/stream.h>
#include <kiln/memory.h>
#include <kiln/graph.h>
#include <kiln/histogram.h>
#include <kiln/array.h>
#include <kiln/index.h>
#include <kiln/dlpack.h>
#include <kiln/arg.h>
#include <kiln/kernel.h>
#include <kiln/random.h>
#include <kiln/sort.h>
#include <kiln/benchmark.h>
#include <kiln/operation.h>
#include <kiln/expression.h>
#include <kiln/trace.h>
#include <kiln/module.h>
#include <kiln/cache.h>
#include <kiln/bundle.h>
#include <kiln/environment.h>
#include <kiln/toolchain.h>
#include <kiln/convenience.h>

#endif
