/*
 * kiln/array.h - n-dimensional arrays: creation, views, copies, files, printing.
 *
 *     const int64_t shape[2] = {2, 3};
 *     kiln_array *x = NULL, *x2 = NULL, *row = NULL;
 *     kiln_array_arange(&x, 0, 6, 1, KILN_FLOAT32, KILN_DEVICE_DEFAULT);
 *     kiln_array_reshape(&x2, x, 2, shape);             // a view where the layout allows it
 *     kiln_array_index(&row, x2, "1:, ::-1");            // a view
 *     kiln_array_to_host(row, buffer, sizeof buffer);
 *     kiln_array_free(row);                             // and x2, and x
 *
 * An array is an immutable description (dtype, shape, byte strides, device) of reference-counted
 * storage; views share the storage. Each function that gives an array gives one reference, to be
 * released with kiln_array_free. Shapes are counted in elements, strides in bytes, outermost axis
 * first. Functions are thread-safe; the data of an array is not guarded.
 *
 * On a CUDA device functions queue their work on the calling thread's current stream of that
 * device, and wait only where they say so. *out is set on success alone. Errors, unless a function
 * names others: KILN_ERROR_INVALID (null, a placeholder, a read-only array), _TYPE, _SHAPE, _SYNTAX
 * (index texts), _MEMORY, _NOT_FOUND (no such device), _DEVICE, and _CAPTURE where the stream is
 * being captured and the call would have to wait.
 */
#ifndef KILN_ARRAY_H
#define KILN_ARRAY_H

#include <kiln/device.h>
#include <kiln/dtype.h>
#include <kiln/stream.h>

#if defined(__cplusplus) && __cplusplus >= 201103L
#include <initializer_list>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A reference to an array; its members are the library's. */
typedef struct kiln_array kiln_array;

/* KILN_SHAPE(600, 800), for the two parameters ndim and shape. It lives to the end of the block, in
 * C++ to that of the statement. */
#ifdef __cplusplus
#define KILN_SHAPE(...)                                                                            \
    static_cast<int>(std::initializer_list<int64_t>{__VA_ARGS__}.size()),                          \
        std::initializer_list<int64_t>{__VA_ARGS__}.begin()
#else
#define KILN_SHAPE(...)                                                                            \
    (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[])             \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#endif

/* ---- creation ---- */

/* A C-ordered array whose elements are not set. */
KILN_NODISCARD KILN_API kiln_status kiln_array_empty(kiln_array **out, kiln_dtype dtype, int ndim,
                                                     const int64_t *shape, kiln_device device);
/* The same, of zeros. */
KILN_NODISCARD KILN_API kiln_status kiln_array_zeros(kiln_array **out, kiln_dtype dtype, int ndim,
                                                     const int64_t *shape, kiln_device device);
/* The same, of ones. */
KILN_NODISCARD KILN_API kiln_status kiln_array_ones(kiln_array **out, kiln_dtype dtype, int ndim,
                                                    const int64_t *shape, kiln_device device);
/* Every element is *value, one element of dtype in host memory. */
KILN_NODISCARD KILN_API kiln_status kiln_array_full(kiln_array **out, kiln_dtype dtype, int ndim,
                                                    const int64_t *shape, const void *value,
                                                    kiln_device device);
/* Every element becomes *value, one element of dtype in host memory; array may be a view. Queued on
 * the current stream. */
KILN_NODISCARD KILN_API kiln_status kiln_array_fill(kiln_array *array, const void *value);
/* The same of another array's dtype, shape and device, C-ordered. */
KILN_NODISCARD KILN_API kiln_status kiln_array_empty_like(kiln_array **out,
                                                          const kiln_array *array);
KILN_NODISCARD KILN_API kiln_status kiln_array_zeros_like(kiln_array **out,
                                                          const kiln_array *array);
KILN_NODISCARD KILN_API kiln_status kiln_array_ones_like(kiln_array **out, const kiln_array *array);
KILN_NODISCARD KILN_API kiln_status kiln_array_full_like(kiln_array **out, const kiln_array *array,
                                                         const void *value);
/* count numbers from start to stop, both among them, evenly spaced, as numpy.linspace: whole dtypes
 * take the floor. Refused (_TYPE) where an element does not fit the dtype. */
KILN_NODISCARD KILN_API kiln_status kiln_array_linspace(kiln_array **out, double start, double stop,
                                                        int64_t count, kiln_dtype dtype,
                                                        kiln_device device);
/* start, start + step, ... below stop (above it for a negative step), ceil((stop - start) / step)
 * elements, as numpy.arange. Refused (_TYPE) where an element does not fit the dtype, and, for
 * dtypes of whole numbers, from 2^53 on, where a double may stand for several of them. A range of
 * bool has 2 elements at most. */
KILN_NODISCARD KILN_API kiln_status kiln_array_arange(kiln_array **out, double start, double stop,
                                                      double step, kiln_dtype dtype,
                                                      kiln_device device);
/* The same for whole numbers, exact from one end of int64 or uint64 to the other. Floating dtypes
 * are counted as above, and refused from 2^53 on. With _uint a range that goes down ends above
 * stop, and so above 0: turn one that goes up round ("::-1") to end with it. */
KILN_NODISCARD KILN_API kiln_status kiln_array_arange_int(kiln_array **out, int64_t start,
                                                          int64_t stop, int64_t step,
                                                          kiln_dtype dtype, kiln_device device);
KILN_NODISCARD KILN_API kiln_status kiln_array_arange_uint(kiln_array **out, uint64_t start,
                                                           uint64_t stop, int64_t step,
                                                           kiln_dtype dtype, kiln_device device);
/* A copy of C-ordered host data. The copy has been made when the call returns. */
KILN_NODISCARD KILN_API kiln_status kiln_array_from_host(kiln_array **out, const void *data,
                                                         kiln_dtype dtype, int ndim,
                                                         const int64_t *shape, kiln_device device);

/* Memory that is not kiln's. */
typedef struct kiln_array_spec {
    size_t struct_size;
    kiln_dtype dtype;       /* of the elements */
    int ndim;               /* axes, KILN_MAX_NDIM at most */
    const int64_t *shape;   /* ndim extents */
    const int64_t *strides; /* bytes; NULL: C order */
    kiln_device device;     /* where the memory is */
    bool read_only;         /* kernels may not write to it */
} kiln_array_spec;
#define KILN_ARRAY_SPEC_INIT                                                                       \
    {                                                                                              \
        sizeof(kiln_array_spec), KILN_DTYPE_NONE, 0, NULL, NULL, KILN_DEVICE_DEFAULT, false        \
    }

/* An array over foreign memory, without a copy. data is the address of the element at index zero on
 * every axis. release(user) is called once, when the last array that uses the memory goes; NULL:
 * nothing is called. On failure release is not called. */
KILN_NODISCARD KILN_API kiln_status kiln_array_wrap(kiln_array **out, void *data,
                                                    const kiln_array_spec *spec,
                                                    void (*release)(void *), void *user);

/* One more reference to the same array: returns array. */
KILN_API kiln_array *kiln_array_retain(const kiln_array *array);
/* Gives one reference back; NULL is taken. Memory that queued work still uses is not handed to
 * others before that work is done. */
KILN_API void kiln_array_free(kiln_array *array);

/* ---- description ---- */

/* The dtype of the elements. */
KILN_API kiln_dtype kiln_array_dtype(const kiln_array *array);
/* The number of axes. */
KILN_API int kiln_array_ndim(const kiln_array *array);
/* ndim extents; lives as long as the array */
KILN_API const int64_t *kiln_array_shape(const kiln_array *array);
/* ndim byte strides; the same */
KILN_API const int64_t *kiln_array_strides(const kiln_array *array);
KILN_API int64_t kiln_array_size(const kiln_array *array); /* elements */
/* elements times element size */
KILN_API size_t kiln_array_nbytes(const kiln_array *array);
/* Where its memory is; never KILN_DEVICE_DEFAULT. */
KILN_API kiln_device kiln_array_device(const kiln_array *array);
/* device address of the first element */
KILN_API void *kiln_array_data(const kiln_array *array);
/* True if the elements are contiguous in memory, in C order or in Fortran order. */
KILN_API bool kiln_array_is_c_contiguous(const kiln_array *array);
KILN_API bool kiln_array_is_f_contiguous(const kiln_array *array);
/* True if kernels may not write to it. */
KILN_API bool kiln_array_is_read_only(const kiln_array *array);

/* ---- views: no data moves; the result shares the storage ---- */

/* A Python index in text: "1:, ::-2, None, ..., 3"; "" is the whole array, as a[()]. */
KILN_NODISCARD KILN_API kiln_status kiln_array_index(kiln_array **out, const kiln_array *array,
                                                     const char *index);
/* start:stop:step of one axis as Python clips them; KILN_SLICE_NONE leaves a bound out. */
#define KILN_SLICE_NONE INT64_MIN
KILN_NODISCARD KILN_API kiln_status kiln_array_slice(kiln_array **out, const kiln_array *array,
                                                     int axis, int64_t start, int64_t stop,
                                                     int64_t step);
/* The n parts of an axis, out[0] to out[n - 1]: as equal as they can be, the first ones longer by
 * one, or, where at is not NULL, those between the n - 1 places there, which are bounds of slices.
 * NumPy's array_split. KILN_ERROR_INVALID for n below 1; out is unchanged on failure. */
KILN_NODISCARD KILN_API kiln_status kiln_array_split(kiln_array **out, int n,
                                                     const kiln_array *array, int axis,
                                                     const int64_t *at);
/* The same, but KILN_ERROR_SHAPE for parts that would not be equal. NumPy's split. */
KILN_NODISCARD KILN_API kiln_status kiln_split(kiln_array **out, int n, const kiln_array *array,
                                               int axis, const int64_t *at);
/* One index of one axis, which goes away. Negative counts from the end. */
KILN_NODISCARD KILN_API kiln_status kiln_array_select(kiln_array **out, const kiln_array *array,
                                                      int axis, int64_t index);
/* All n of them, out[0] to out[n - 1]: NumPy's unstack. KILN_ERROR_SHAPE for an axis of another
 * extent; out is unchanged on failure. */
KILN_NODISCARD KILN_API kiln_status kiln_unstack(kiln_array **out, int n, const kiln_array *array,
                                                 int axis);
/* axes: a permutation of 0 .. ndim-1; NULL reverses them. */
KILN_NODISCARD KILN_API kiln_status kiln_array_transpose(kiln_array **out, const kiln_array *array,
                                                         const int *axes);
/* One extent may be -1. A view where the layout allows it, else a C-ordered copy. Shapes, strides
 * and what is a view are NumPy's in all of these, strides of axes of extent 1 too; but selecting a
 * single element gives an array without axes, as a[..., ] does. */
KILN_NODISCARD KILN_API kiln_status kiln_array_reshape(kiln_array **out, const kiln_array *array,
                                                       int ndim, const int64_t *shape);
/* A view with more axes, or larger ones, by NumPy's rules; read-only where elements repeat. */
KILN_NODISCARD KILN_API kiln_status kiln_array_broadcast_to(kiln_array **out,
                                                            const kiln_array *array, int ndim,
                                                            const int64_t *shape);
/* A view of any shape and strides, in bytes, from the array's first element. KILN_ERROR_INVALID
 * where an element would lie outside of the array's memory; read-only where elements may overlap.
 * KILN_ERROR_INVALID for arrays of a trace, too. */
KILN_NODISCARD KILN_API kiln_status kiln_array_as_strided(kiln_array **out, const kiln_array *array,
                                                          int ndim, const int64_t *shape,
                                                          const int64_t *strides);
/* A view with one more axis, of extent 1. */
KILN_NODISCARD KILN_API kiln_status kiln_array_expand_dims(kiln_array **out,
                                                           const kiln_array *array, int axis);
/* Drops axis, which must have extent 1; KILN_ALL_AXES drops all of extent 1. An array without axes
 * stays as it is. */
#define KILN_ALL_AXES INT32_MIN
KILN_NODISCARD KILN_API kiln_status kiln_array_squeeze(kiln_array **out, const kiln_array *array,
                                                       int axis);

/* ---- copies ---- */

/* A new C-ordered array with the same elements, on the same device. */
KILN_NODISCARD KILN_API kiln_status kiln_array_copy(kiln_array **out, const kiln_array *array);
/* A new C-ordered array of the elements in another dtype, as NumPy's astype: towards zero, of
 * complex numbers the real parts, true where there is no zero. A kernel. KILN_ERROR_TYPE for what
 * is no dtype, and the errors of kiln_kernel_call. */
KILN_NODISCARD KILN_API kiln_status kiln_array_astype(kiln_array **out, const kiln_array *array,
                                                      kiln_dtype dtype);
/* The elements of from become those of to, as NumPy's to[...] = from: broadcast to its shape, and
 * cast to its dtype as by kiln_array_astype. They may overlap, and lie on different devices. */
KILN_NODISCARD KILN_API kiln_status kiln_array_assign(kiln_array *to, const kiln_array *from);
/* array itself (one more reference) where it is C-contiguous, else a C-ordered copy. */
KILN_NODISCARD KILN_API kiln_status kiln_array_contiguous(kiln_array **out,
                                                          const kiln_array *array);
/* array itself (one more reference) where it is on device already, else a copy there, queued on the
 * current streams. */
KILN_NODISCARD KILN_API kiln_status kiln_array_to_device(kiln_array **out, const kiln_array *array,
                                                         kiln_device device);
/* The elements in C order to size bytes of host memory (exactly kiln_array_nbytes); done when the
 * call returns. */
KILN_NODISCARD KILN_API kiln_status kiln_array_to_host(const kiln_array *array, void *data,
                                                       size_t size);
/* The only element of an array, as a double. KILN_ERROR_SHAPE: there is not just one;
 * KILN_ERROR_TYPE: it is complex. */
KILN_NODISCARD KILN_API kiln_status kiln_array_item(double *out, const kiln_array *array);
/* C-ordered elements from host memory into array, which may be a strided view. Done when the call
 * returns. */
KILN_NODISCARD KILN_API kiln_status kiln_array_set_from_host(kiln_array *array, const void *data,
                                                             size_t size);
/* The same without waiting: array must be C-contiguous, data should be pinned and must live until
 * the stream has passed. */
KILN_NODISCARD KILN_API kiln_status kiln_array_to_host_async(const kiln_array *array, void *data,
                                                             size_t size, kiln_stream *stream);
KILN_NODISCARD KILN_API kiln_status kiln_array_set_from_host_async(kiln_array *array,
                                                                   const void *data, size_t size,
                                                                   kiln_stream *stream);

/* ---- files and text ---- */

/* Reads a file, what it is by its first bytes: .npy, as kiln_array_load_npy does; PGM and PPM, 8 or
 * 16 bits in binary or text, as uint8 or uint16 (height, width) or (height, width, 3); PFM as
 * float32. (The command reads more: `kiln help files`.) KILN_ERROR_FORMAT: none of these, damaged,
 * or cut short; else the errors of kiln_array_load_npy. */
KILN_NODISCARD KILN_API kiln_status kiln_array_load(kiln_array **out, const char *path,
                                                    kiln_device device);
/* The same of the bytes of such a file. */
KILN_NODISCARD KILN_API kiln_status kiln_array_load_bytes(kiln_array **out, const void *data,
                                                          size_t size, kiln_device device);
/* Writes one, what it is by its suffix: .npy, .pgm, .ppm and .pnm (gray or in colour as the array
 * is), .pfm; written beside the target and renamed. KILN_ERROR_INVALID: another suffix;
 * KILN_ERROR_TYPE, KILN_ERROR_SHAPE: an array that such a picture cannot be; KILN_ERROR_IO. */
KILN_NODISCARD KILN_API kiln_status kiln_array_save(const kiln_array *array, const char *path);
/* The bytes of such a file, of the suffix ".pgm", allocated with malloc: the caller frees them. */
KILN_NODISCARD KILN_API kiln_status kiln_array_save_bytes(void **out, size_t *size,
                                                          const kiln_array *array,
                                                          const char *suffix);
/* Reads a NumPy .npy file, versions 1 to 3, in C or Fortran order (the array has the file's order),
 * of either byte order. "<V2", which ml_dtypes and kiln write, is bfloat16. KILN_ERROR_NOT_FOUND or
 * _IO: the file; KILN_ERROR_FORMAT: no .npy file, or damaged or cut short; KILN_ERROR_TYPE:
 * structured, object, string and other dtypes that kiln does not have; KILN_ERROR_SHAPE: the
 * extents. */
KILN_NODISCARD KILN_API kiln_status kiln_array_load_npy(kiln_array **out, const char *path,
                                                        kiln_device device);
/* The same of the bytes of such a file; those behind its data are left alone. field: of a
 * structured dtype the field that is read, with its own extents behind those of the array; NULL:
 * there are none. KILN_ERROR_NOT_FOUND, naming those there are: there is no such field. */
KILN_NODISCARD KILN_API kiln_status kiln_array_load_npy_bytes(kiln_array **out, const void *data,
                                                              size_t size, const char *field,
                                                              kiln_device device);
/* The number of bytes of a .npy file by its header at data, for reading one out of a longer stream
 * (an archive, a socket). KILN_ERROR_FORMAT also if `there` bytes do not hold the header, which has
 * at most KILN_NPY_HEADER_MAX. KILN_ERROR_INVALID, KILN_ERROR_TYPE. */
enum { KILN_NPY_HEADER_MAX = 12 + (1 << 16) };
KILN_NODISCARD KILN_API kiln_status kiln_array_npy_size(size_t *size, const void *data,
                                                        size_t there);
/* Writes a NumPy .npy file that numpy.load reads; written beside the target and renamed, so that it
 * is never incomplete. An array in Fortran order is written in that order, any other in C order.
 * bfloat16, which NumPy does not have, is written as ml_dtypes does, "<V2":
 * numpy.load(path).view(ml_dtypes.bfloat16). */
KILN_NODISCARD KILN_API kiln_status kiln_array_save_npy(const kiln_array *array, const char *path);
/* The bytes of such a file, allocated with malloc: the caller frees them. */
KILN_NODISCARD KILN_API kiln_status kiln_array_save_npy_bytes(void **out, size_t *size,
                                                              const kiln_array *array);

/* The format of kiln_array_to_string; 0 is the default of each member. */
typedef struct kiln_print_options {
    size_t struct_size;
    int precision;  /* digits after the point at most; default 8 */
    int threshold;  /* elements above which the middle of each axis is left out; default 1000 */
    int edge_items; /* elements shown at each end then; default 3 */
    int line_width; /* characters; default 75 */
} kiln_print_options;
#define KILN_PRINT_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(kiln_print_options), 0, 0, 0, 0                                                     \
    }

/* The text that numpy.array2string gives (NumPy 2.4), allocated with malloc: the caller frees it.
 * options may be NULL. Of a long array only the elements that are shown leave the device. */
KILN_NODISCARD KILN_API kiln_status kiln_array_to_string(char **out, const kiln_array *array,
                                                         const kiln_print_options *options);

/* The same text, and a line's end, to standard output. */
KILN_NODISCARD KILN_API kiln_status kiln_array_print(const kiln_array *array);

#ifdef __cplusplus
}
#endif
#endif
