/* Files of arrays by their names: .npy, and pictures. */
#include "array/array.h"
#include "array/netpbm.h"
#include "base/alloc.h"
#include "base/blob.h"
#include "base/cancel.h"
#include "base/error.h"
#include "base/os.h"
#include "base/str.h"

#include <string.h>
#include <strings.h>

/* ---- formats ---- */

static bool is_npy(const unsigned char *data, size_t size)
{
    return size >= 6 && memcmp(data, "\x93NUMPY", 6) == 0;
}

static kiln_status npy_read(kiln_array **out, const unsigned char *data, size_t size, kiln_device device)
{
    return kiln_array_load_npy_bytes(out, data, size, NULL, device);
}

static kiln_status picture_write(void **out, size_t *size, const kiln_array *array,
                                 kiln_status (*write)(kn_str *, const kiln_array *))
{
    kn_str file = KN_STR_INIT;
    kiln_status status = write(&file, array);
    size_t length = file.length;
    char *bytes = status == KILN_OK ? kn_str_take(&file, "a picture") : NULL;
    kn_str_free(&file);
    if (!bytes)
        return status == KILN_OK ? KILN_ERROR_MEMORY : status;
    *out = bytes;
    *size = length;
    return KILN_OK;
}

static kiln_status pnm_write(void **out, size_t *size, const kiln_array *array)
{
    return picture_write(out, size, array, kn_pnm_write);
}

static kiln_status pfm_write(void **out, size_t *size, const kiln_array *array)
{
    return picture_write(out, size, array, kn_pfm_write);
}

typedef struct format {
    const char *suffixes; /* ".pgm .ppm" */
    bool (*is)(const unsigned char *data, size_t size);
    kiln_status (*read)(kiln_array **out, const unsigned char *data, size_t size, kiln_device device);
    /* the whole file, in C's own memory */
    kiln_status (*write)(void **out, size_t *size, const kiln_array *array);
} format;

static const format formats[] = {
    {".npy", is_npy, npy_read, kiln_array_save_npy_bytes},
    {".pgm .ppm .pnm", kn_is_pnm, kn_pnm_read, pnm_write},
    {".pfm", kn_is_pfm, kn_pfm_read, pfm_write},
};
enum { FORMATS = sizeof formats / sizeof *formats };
static const char known[] = ".npy, .pgm, .ppm, .pnm or .pfm";

static const format *format_of_suffix(const char *suffix)
{
    size_t length = strlen(suffix);
    for (int f = 0; f < FORMATS; f++)
        for (const char *s = formats[f].suffixes; *s; s += strcspn(s, " "), s += *s == ' ')
            if (strcspn(s, " ") == length && strncasecmp(s, suffix, length) == 0)
                return &formats[f];
    return NULL;
}

/* From the last dot of the last part of a path; "" where it has none. */
static const char *suffix_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    return dot && (!slash || dot > slash) ? dot : "";
}

/* ---- reading ---- */

static kiln_status read_bytes(kiln_array **out, const void *data, size_t size, kiln_device device)
{
    for (int f = 0; f < FORMATS; f++)
        if (formats[f].is(data, size))
            return formats[f].read(out, data, size, device);
    return kn_error(KILN_ERROR_FORMAT, "it begins as no file of %s does", known);
}

kiln_status kiln_array_load_bytes(kiln_array **out, const void *data, size_t size, kiln_device device)
{
    if (!out || !data)
        return kn_error(KILN_ERROR_INVALID, "kiln_array_load_bytes: %s is NULL", out ? "data" : "out");
    return read_bytes(out, data, size, device);
}

kiln_status kiln_array_load(kiln_array **out, const char *path, kiln_device device)
{
    KN_UNCANCELLED;
    kn_blob file = KN_BLOB_INIT;
    if (!out || !path)
        return kn_error(KILN_ERROR_INVALID, "kiln_array_load: %s is NULL", out ? "path" : "out");
    kiln_status status = kn_os_read_file(&file, path);
    if (status)
        return status; /* names the path itself */
    status = read_bytes(out, file.data, file.size, device);
    kn_blob_free(&file);
    return status ? kn_error_context("%s", path) : KILN_OK;
}

/* ---- writing ---- */

static kiln_status write_bytes(void **out, size_t *size, const kiln_array *array, const char *suffix)
{
    const format *f = format_of_suffix(suffix);
    return f ? f->write(out, size, array)
             : kn_error(KILN_ERROR_INVALID, "'%s' is no suffix of what can be written; %s was expected",
                        suffix, known);
}

kiln_status kiln_array_save_bytes(void **out, size_t *size, const kiln_array *array, const char *suffix)
{
    kiln_status status = kn_array_check_data(array, "kiln_array_save_bytes");
    if (!status && (!out || !size || !suffix))
        status = kn_error(KILN_ERROR_INVALID, "kiln_array_save_bytes: %s is NULL",
                          !out    ? "out"
                          : !size ? "size"
                                  : "suffix");
    return status ? status : write_bytes(out, size, array, suffix);
}

kiln_status kiln_array_save(const kiln_array *array, const char *path)
{
    KN_UNCANCELLED;
    void *bytes = NULL;
    size_t size = 0;
    kiln_status status = kn_array_check_data(array, "kiln_array_save");
    if (!status && !path)
        status = kn_error(KILN_ERROR_INVALID, "kiln_array_save: path is NULL");
    if (!status && (status = write_bytes(&bytes, &size, array, suffix_of(path))) != KILN_OK)
        kn_error_context("%s", path);
    if (!status)
        status = kn_os_write_file(path, bytes, size);
    kn_free(bytes);
    return status;
}
