/* NumPy's .npy files.
 *
 *   file   := "\x93NUMPY" major minor length header data
 *   length := 2 bytes (version 1) or 4 bytes (versions 2 and 3), little-endian
 *   header := a Python dictionary with the keys 'descr', 'fortran_order' and 'shape', padded with blanks
 */
#include "array/array.h"
#include "base/alloc.h"
#include "base/cancel.h"
#include "base/error.h"
#include "base/os.h"
#include "space/shape.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAGIC_SIZE = 6, ALIGNMENT = 64, GROWTH_DIGITS = 21, DESCR_MAX = 16 };
enum { HEADER_MAX = KILN_NPY_HEADER_MAX - 12 };

static const char magic[] = "\x93NUMPY";

/* ml_dtypes' name for it, and ours. */
static const char bfloat16_descr[] = "<V2";

/* ---- reading the header ---- */

typedef struct npy_header {
    kiln_dtype dtype;
    bool fortran_order, is_big_endian;
    int ndim, inner_ndim; /* the last inner_ndim axes are the field's own */
    int64_t shape[KILN_MAX_NDIM], inner[KILN_MAX_NDIM];
    size_t record,
        offset;     /* bytes from one element to the next, and of the field in it; record 0: no fields */
    size_t data_at; /* from the file's beginning */
} npy_header;

typedef struct npy_reader {
    const char *at, *end;
    npy_header *header;
    const char *field; /* the wanted one; NULL: none */
    kn_str names;      /* of all fields, for messages */
    bool has_field;
} npy_reader;

static kiln_status damaged(const char *what)
{
    return kn_error(KILN_ERROR_FORMAT, "the .npy header is damaged: %s", what);
}

static void skip_blanks(npy_reader *r)
{
    while (r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at)
        r->at++;
}

static bool take(npy_reader *r, const char *token)
{
    size_t n = strlen(token);
    skip_blanks(r);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, token, n))
        return false;
    r->at += n;
    return true;
}

/* A quoted string without escapes; NULL: none here. */
static const char *take_string(npy_reader *r, size_t *length)
{
    skip_blanks(r);
    if (r->at == r->end || (*r->at != '\'' && *r->at != '"'))
        return NULL;
    const char *begin = r->at + 1, *close = memchr(begin, *r->at, (size_t)(r->end - begin));
    if (!close)
        return NULL;
    *length = (size_t)(close - begin);
    r->at = close + 1;
    return begin;
}

static kiln_status read_dtype(npy_header *h, const char *text, size_t length)
{
    char name[DESCR_MAX] = "";
    memcpy(name, text, length < DESCR_MAX ? length : DESCR_MAX - 1);
    if (!strcmp(name, bfloat16_descr)) {
        h->dtype = KILN_BFLOAT16;
        return KILN_OK;
    }
    h->is_big_endian = name[0] == '>';
    if (h->is_big_endian)
        name[0] = '<';
    return kiln_dtype_from_name(&h->dtype, name);
}

/* ---- fields ---- */

/* The bytes of "<f4", "|S10", "<U5" (characters of 4 bytes) or "<M8[ns]"; 0 where there is no number. */
static size_t bytes_of(const char *text, size_t length)
{
    size_t bytes = 0;
    for (size_t k = 2; k < length && text[k] >= '0' && text[k] <= '9' && bytes < HEADER_MAX; k++)
        bytes = 10 * bytes + (size_t)(text[k] - '0');
    return length > 1 && text[1] == 'U' ? 4 * bytes : bytes;
}

static kiln_status read_tuple(npy_reader *r, int64_t *extents, int *ndim);
static kiln_status read_list(npy_reader *r, size_t *bytes, int depth);

/* The type of a field, all of whose bytes are counted. */
static kiln_status read_field_type(npy_reader *r, size_t *bytes, bool is_wanted, int depth)
{
    size_t length = 0;
    if (take(r, "["))
        return is_wanted ? kn_error(KILN_ERROR_TYPE, "the field '%s' has fields itself", r->field)
                         : read_list(r, bytes, depth + 1);
    const char *text = take_string(r, &length);
    if (!text)
        return damaged("'descr' has a field without a type");
    *bytes = bytes_of(text, length);
    if (!is_wanted || read_dtype(r->header, text, length) == KILN_OK)
        return KILN_OK;
    return kn_error_context("the field '%s'", r->field);
}

/* ('name', '<f4') or ('name', '<f4', (2, 3)), and (('title', 'name'), ...) */
static kiln_status read_member(npy_reader *r, size_t *bytes, int depth)
{
    int64_t extents[KILN_MAX_NDIM];
    size_t length = 0, count = 1;
    int ndim = 0;
    if (!take(r, "("))
        return damaged("'descr' is neither a string nor a list of fields");
    bool is_titled = take(r, "(");
    const char *name = take_string(r, &length);
    if (name && is_titled)
        name = take(r, ",") ? take_string(r, &length) : NULL;
    if (!name || (is_titled && !take(r, ")")) || !take(r, ","))
        return damaged("'descr' has a field without a name");
    bool is_wanted =
        depth == 0 && length > 0 && r->field && strlen(r->field) == length && !memcmp(r->field, name, length);
    if (depth == 0 && length > 0)
        kn_str_printf(&r->names, "%s'%.*s'", r->names.length ? ", " : "", (int)length, name);
    kiln_status status = read_field_type(r, bytes, is_wanted, depth);
    if (!status && take(r, ","))
        status = take(r, "(") ? read_tuple(r, extents, &ndim) : damaged("a field's extents are no tuple");
    if (status)
        return status;
    for (int d = 0; d < ndim; d++)
        if (__builtin_mul_overflow(count, (size_t)extents[d], &count))
            return damaged("a field has more elements than there may be");
    if (__builtin_mul_overflow(*bytes, count, bytes))
        return damaged("a field has more bytes than there may be");
    if (is_wanted) {
        r->has_field = true;
        r->header->inner_ndim = ndim;
        memcpy(r->header->inner, extents, (size_t)ndim * sizeof *extents);
    }
    return take(r, ")") ? KILN_OK : damaged("a field does not end");
}

/* The rest of a list of fields, and how many bytes they have. */
static kiln_status read_list(npy_reader *r, size_t *bytes, int depth)
{
    enum { DEPTH_MAX = 16 };
    size_t total = 0;
    if (depth > DEPTH_MAX)
        return damaged("fields within fields, too many deep");
    while (!take(r, "]")) {
        size_t member = 0;
        bool had_field = r->has_field;
        kiln_status status = read_member(r, &member, depth);
        if (status)
            return status;
        if (r->has_field && !had_field)
            r->header->offset = total;
        if (__builtin_add_overflow(total, member, &total))
            return damaged("its fields have more bytes than there may be");
        if (!take(r, ",") && (r->at == r->end || *r->at != ']'))
            return damaged("the list of fields does not end");
    }
    *bytes = total;
    return KILN_OK;
}

static kiln_status read_descr(npy_reader *r)
{
    size_t length = 0;
    if (take(r, "[")) {
        kiln_status status = read_list(r, &r->header->record, 0);
        if (status || r->has_field)
            return status;
        return r->field ? kn_error(KILN_ERROR_NOT_FOUND, "there is no field '%s'; the fields are %s",
                                   r->field, kn_str_text(&r->names))
                        : kn_error(KILN_ERROR_TYPE,
                                   "the dtype is structured, and one of its fields has to be named (to the "
                                   "command as FILE.npy:FIELD): %s",
                                   kn_str_text(&r->names));
    }
    const char *text = take_string(r, &length);
    if (!text)
        return damaged("'descr' is no string");
    if (r->field)
        return kn_error(KILN_ERROR_NOT_FOUND, "there is no field '%s'; the elements are numbers", r->field);
    return read_dtype(r->header, text, length);
}

static kiln_status read_order(npy_reader *r)
{
    r->header->fortran_order = take(r, "True");
    return r->header->fortran_order || take(r, "False")
               ? KILN_OK
               : damaged("'fortran_order' is neither True nor False");
}

static kiln_status read_extent(npy_reader *r, int64_t *extent)
{
    const char *begin = r->at;
    *extent = 0;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
        if (__builtin_mul_overflow(*extent, 10, extent) ||
            __builtin_add_overflow(*extent, *r->at - '0', extent))
            return kn_error(KILN_ERROR_SHAPE, "the .npy header has an extent of more than 63 bits");
    if (r->at == begin)
        return damaged("'shape' is no tuple of extents");
    take(r, "L"); /* Python 2 wrote long integers so */
    return KILN_OK;
}

/* The rest of a tuple of extents. */
static kiln_status read_tuple(npy_reader *r, int64_t *extents, int *ndim)
{
    while (!take(r, ")")) {
        if (*ndim == KILN_MAX_NDIM)
            return kn_error(KILN_ERROR_SHAPE, "the .npy header has more than %d axes", KILN_MAX_NDIM);
        kiln_status status = read_extent(r, &extents[(*ndim)++]);
        if (status)
            return status;
        if (!take(r, ",")) {
            skip_blanks(r);
            if (r->at == r->end || *r->at != ')')
                return damaged("'shape' is no tuple of extents");
        }
    }
    return KILN_OK;
}

static kiln_status read_shape(npy_reader *r)
{
    if (!take(r, "("))
        return damaged("'shape' is no tuple of extents");
    return read_tuple(r, r->header->shape, &r->header->ndim);
}

static const struct field {
    const char *name;
    kiln_status (*read)(npy_reader *);
} fields[] = {{"descr", read_descr}, {"fortran_order", read_order}, {"shape", read_shape}};

/* One `'key': value`; seen collects a bit for each key. */
static kiln_status read_field(npy_reader *r, unsigned *seen)
{
    size_t length = 0;
    const char *key = take_string(r, &length);
    for (unsigned k = 0; key && k < 3; k++)
        if (strlen(fields[k].name) == length && !memcmp(fields[k].name, key, length)) {
            if (*seen >> k & 1)
                return damaged("a key stands twice");
            *seen |= 1U << k;
            return take(r, ":") ? fields[k].read(r) : damaged("':' is missing");
        }
    return damaged("a key other than 'descr', 'fortran_order' and 'shape'");
}

static kiln_status read_fields(npy_reader *r)
{
    unsigned seen = 0;
    if (!take(r, "{"))
        return damaged("it is no dictionary");
    while (!take(r, "}")) {
        kiln_status status = read_field(r, &seen);
        if (status)
            return status;
        if (take(r, ","))
            continue;
        skip_blanks(r);
        if (r->at == r->end || *r->at != '}')
            return damaged("',' or '}' is missing");
    }
    return seen == 7 ? KILN_OK : damaged("one of 'descr', 'fortran_order' and 'shape' is missing");
}

/* Finds the dictionary's place and length. */
static kiln_status find_header(const kn_blob *file, size_t *begin, size_t *length)
{
    const unsigned char *bytes = file->data;
    if (file->size < MAGIC_SIZE || memcmp(bytes, magic, MAGIC_SIZE))
        return kn_error(KILN_ERROR_FORMAT, "no .npy file: it does not begin with \\x93NUMPY");
    unsigned major = file->size > MAGIC_SIZE ? bytes[MAGIC_SIZE] : 1;
    if (major < 1 || major > 3)
        return kn_error(KILN_ERROR_FORMAT, "version %u of the .npy format; 1 to 3 are known", major);
    *begin = major == 1 ? 10 : 12;
    if (file->size < *begin)
        return kn_error(KILN_ERROR_FORMAT, "truncated: the .npy file ends after %zu bytes, within its header",
                        file->size);
    *length = bytes[8] | (size_t)bytes[9] << 8;
    if (major > 1)
        *length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (*length > HEADER_MAX)
        return kn_error(KILN_ERROR_FORMAT, "the .npy header is %zu bytes long; at most %d are read", *length,
                        HEADER_MAX);
    if (*length > file->size - *begin)
        return kn_error(KILN_ERROR_FORMAT,
                        "truncated: the .npy header should have %zu bytes, but %zu are there", *length,
                        file->size - *begin);
    return KILN_OK;
}

/* A field's own axes come behind those of the file. */
static kiln_status add_inner_axes(npy_header *h)
{
    if (h->inner_ndim == 0)
        return KILN_OK;
    if (h->fortran_order && h->ndim > 1)
        return kn_error(KILN_ERROR_UNSUPPORTED,
                        "a field with extents of its own, in Fortran order, is not read");
    h->fortran_order = false;
    for (int d = 0; d < h->inner_ndim; d++) {
        if (h->ndim == KILN_MAX_NDIM)
            return kn_error(KILN_ERROR_SHAPE, "the .npy header has more than %d axes", KILN_MAX_NDIM);
        h->shape[h->ndim++] = h->inner[d];
    }
    return KILN_OK;
}

static kiln_status read_header(npy_header *header, const kn_blob *file, const char *field)
{
    size_t begin = 0, length = 0;
    memset(header, 0, sizeof *header);
    kiln_status status = find_header(file, &begin, &length);
    if (status)
        return status;
    const char *text = (const char *)file->data + begin;
    npy_reader reader = {text, text + length, header, field, KN_STR_INIT, false};
    header->data_at = begin + length;
    status = read_fields(&reader);
    if (!status)
        status = add_inner_axes(header);
    kn_str_free(&reader.names);
    return status ? status : kn_array_check_shape(header->dtype, header->ndim, header->shape);
}

/* ---- loading ---- */

/* Fortran order is C order of the axes reversed. */
static kiln_status upload_in_order(kiln_array *array, const void *data, bool fortran_order)
{
    kiln_array *transposed = NULL;
    if (!fortran_order)
        return kn_array_upload(array, data, "kiln_array_load_npy");
    kiln_status status = kiln_array_transpose(&transposed, array, NULL);
    if (!status)
        status = kn_array_upload(transposed, data, "kiln_array_load_npy");
    kiln_array_free(transposed);
    return status;
}

static kiln_status allocate_for(kiln_array **out, const npy_header *h, kiln_device device)
{
    int64_t strides[KILN_MAX_NDIM];
    kn_device *place;
    void *stream;
    kiln_status status = kn_device_get(&place, device);
    if (!status)
        status = kn_stream_native(&stream, place, NULL);
    (h->fortran_order ? kn_shape_f_strides : kn_shape_c_strides)(h->ndim, h->shape,
                                                                 (int64_t)kiln_dtype_size(h->dtype), strides);
    return status ? status : kn_array_allocate(out, place, stream, h->dtype, h->ndim, h->shape, strides);
}

/* ---- elements that lie otherwise than in memory ---- */

static void put_swapped(char *to, const char *from, size_t bytes)
{
    for (size_t k = 0; k < bytes; k++)
        to[k] = from[bytes - 1 - k];
}

/* Collects the field of every record into contiguous elements, in the machine's byte order. */
static void gather(char *to, const char *from, const npy_header *h, size_t records, size_t each)
{
    size_t item = kiln_dtype_size(h->dtype);
    size_t number = kn_dtype_is_complex(h->dtype) ? item / 2 : item;
    for (size_t k = 0; k < records; k++) {
        const char *record = from + k * (h->record ? h->record : each) + h->offset;
        if (!h->is_big_endian)
            memcpy(to + k * each, record, each);
        for (size_t at = 0; h->is_big_endian && at < each; at += number)
            put_swapped(to + k * each + at, record + at, number);
    }
}

static kiln_status upload_gathered(kiln_array *array, const char *data, const npy_header *h, size_t records,
                                   size_t each)
{
    if (!h->record && !h->is_big_endian)
        return upload_in_order(array, data, h->fortran_order);
    size_t bytes = kiln_array_nbytes(array);
    char *plain = kn_malloc(bytes + 1);
    if (!plain)
        return kn_error_memory("the elements of a .npy file");
    gather(plain, data, h, records, each);
    kiln_status status = upload_in_order(array, plain, h->fortran_order);
    kn_free(plain);
    return status;
}

/* The bytes of its elements, or of its records; of an element, *each. */
static kiln_status data_size(size_t *out, size_t *each, const npy_header *h)
{
    size_t records = (size_t)kn_shape_size(h->ndim - h->inner_ndim, h->shape);
    *each = kiln_dtype_size(h->dtype) * (size_t)kn_shape_size(h->inner_ndim, h->inner);
    if (!__builtin_mul_overflow(records, h->record ? h->record : *each, out))
        return KILN_OK;
    return kn_error(KILN_ERROR_FORMAT, "truncated: the .npy header says that there are %zu elements",
                    records);
}

static kiln_status read_array(kiln_array **out, const kn_blob *file, const char *field, kiln_device device)
{
    npy_header h;
    kiln_array *a = NULL;
    kiln_status status = read_header(&h, file, field);
    if (status)
        return status;
    size_t records = (size_t)kn_shape_size(h.ndim - h.inner_ndim, h.shape), there = file->size - h.data_at;
    size_t each, wanted;
    if ((status = data_size(&wanted, &each, &h)) != KILN_OK)
        return status;
    if (there < wanted)
        return kn_error(KILN_ERROR_FORMAT, "truncated: %zu bytes of data should be there, but there are %zu",
                        wanted, there);
    status = allocate_for(&a, &h, device);
    if (!status)
        status = upload_gathered(a, (const char *)file->data + h.data_at, &h, records, each);
    if (status)
        kiln_array_free(a);
    else
        *out = a;
    return status;
}

kiln_status kiln_array_load_npy(kiln_array **out, const char *path, kiln_device device)
{
    KN_UNCANCELLED;
    kn_blob file = KN_BLOB_INIT;
    if (!out || !path)
        return kn_error(KILN_ERROR_INVALID, "kiln_array_load_npy: %s is NULL", out ? "path" : "out");
    kiln_status status = kn_os_read_file(&file, path);
    if (status)
        return status; /* names the path itself */
    status = read_array(out, &file, NULL, device);
    kn_blob_free(&file);
    return status ? kn_error_context("%s", path) : KILN_OK;
}

kiln_status kiln_array_npy_size(size_t *size, const void *data, size_t there)
{
    const kn_blob file = {(void *)(uintptr_t)data, there}; /* only read */
    npy_header h;
    size_t each, bytes = 0;
    if (!size || !data)
        return kn_error(KILN_ERROR_INVALID, "kiln_array_npy_size: %s is NULL", size ? "data" : "size");
    kiln_status status = read_header(&h, &file, NULL);
    if (!status)
        status = data_size(&bytes, &each, &h);
    if (!status && __builtin_add_overflow(bytes, h.data_at, size))
        status =
            kn_error(KILN_ERROR_FORMAT, "truncated: the .npy header says that there are %zu bytes", bytes);
    return status;
}

kiln_status kiln_array_load_npy_bytes(kiln_array **out, const void *data, size_t size, const char *field,
                                      kiln_device device)
{
    if (!out || !data)
        return kn_error(KILN_ERROR_INVALID, "kiln_array_load_npy_bytes: %s is NULL", out ? "data" : "out");
    kn_blob file = {(void *)(uintptr_t)data, size}; /* only read */
    return read_array(out, &file, field, device);
}

/* ---- saving ---- */

/* The header is NumPy's, byte for byte: it has space for the outermost extent to grow in place, and aligns
 * the data. */
static kiln_status write_header(kn_str *s, const kiln_array *array, bool fortran_order)
{
    const kn_dtype_info *info = kn_dtype_info_of(array->dtype);
    kn_str header = KN_STR_INIT;
    char digits[24] = "";
    kn_str_printf(&header,
                  "{'descr': '%s', 'fortran_order': %s, 'shape': ", info->npy ? info->npy : bfloat16_descr,
                  fortran_order ? "True" : "False");
    kn_shape_format(&header, array->ndim, array->shape);
    kn_str_append(&header, ", }");
    if (array->ndim) {
        int n =
            snprintf(digits, sizeof digits, "%" PRId64, array->shape[fortran_order ? array->ndim - 1 : 0]);
        kn_str_printf(&header, "%*s", GROWTH_DIGITS - n, "");
    }
    size_t total = MAGIC_SIZE + 4 + header.length + 1, padding = (ALIGNMENT - total % ALIGNMENT) % ALIGNMENT;
    size_t length = header.length + 1 + padding;
    const char prefix[4] = {1, 0, (char)(length & 0xff), (char)(length >> 8)};
    kn_str_append_n(s, magic, MAGIC_SIZE);
    kn_str_append_n(s, prefix, sizeof prefix);
    kn_str_append(s, kn_str_text(&header));
    kn_str_printf(s, "%*s\n", (int)padding, "");
    s->failed |= header.failed;
    kn_str_free(&header);
    return kn_str_status(s, "the header of a .npy file");
}

/* The elements in the order of the file. */
static kiln_status download_in_order(const kiln_array *array, void *data, bool fortran_order)
{
    kiln_array *transposed = NULL;
    if (!fortran_order)
        return kiln_array_to_host(array, data, kiln_array_nbytes(array));
    kiln_status status = kiln_array_transpose(&transposed, array, NULL);
    if (!status)
        status = kiln_array_to_host(transposed, data, kiln_array_nbytes(array));
    kiln_array_free(transposed);
    return status;
}

/* The whole file; *bytes is the caller's, in C's own memory. */
static kiln_status write_bytes(char **bytes, size_t *size, const kiln_array *array)
{
    kn_str header = KN_STR_INIT;
    bool fortran_order = array->is_f_contiguous && !array->is_c_contiguous;
    size_t data = kiln_array_nbytes(array);
    kiln_status status = write_header(&header, array, fortran_order);
    if (!status) {
        *size = header.length + data;
        *bytes = kn_malloc(*size);
        if (!*bytes)
            status = kn_error_memory("a .npy file");
    }
    if (!status) {
        memcpy(*bytes, header.data, header.length);
        status = download_in_order(array, *bytes + header.length, fortran_order);
    }
    kn_str_free(&header);
    return status;
}

kiln_status kiln_array_save_npy(const kiln_array *array, const char *path)
{
    KN_UNCANCELLED;
    char *file = NULL;
    size_t size = 0;
    kiln_status status = kn_array_check_data(array, "kiln_array_save_npy");
    if (!status && !path)
        status = kn_error(KILN_ERROR_INVALID, "kiln_array_save_npy: path is NULL");
    if (!status)
        status = write_bytes(&file, &size, array);
    if (!status)
        status = kn_os_write_file(path, file, size);
    kn_free(file);
    return status;
}

kiln_status kiln_array_save_npy_bytes(void **out, size_t *size, const kiln_array *array)
{
    char *file = NULL;
    kiln_status status = kn_array_check_data(array, "kiln_array_save_npy_bytes");
    if (!status && (!out || !size))
        status = kn_error(KILN_ERROR_INVALID, "kiln_array_save_npy_bytes: %s is NULL", out ? "size" : "out");
    if (!status)
        status = write_bytes(&file, size, array);
    if (status)
        kn_free(file);
    else
        *out = file;
    return status;
}
