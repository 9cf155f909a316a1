/* format_npz.c - NumPy's archives: .npy files in a zip file, by libzip. Compressed ones are read, too. */
#include "formats.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if KILN_HAS_ZIP
#include <zip.h>

/* ---- reading ---- */

/* "x" for "x.npy". */
static size_t member_length(const char *name)
{
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".npy") == 0 ? length - 4 : length;
}

static bool is_named(zip_t *archive, zip_int64_t index, const char *member, size_t length)
{
    const char *name = zip_get_name(archive, (zip_uint64_t)index, 0);
    return name && member_length(name) == length && strncmp(name, member, length) == 0;
}

/* Among members of one name the last is the array, as in NumPy; *out: its name without ".npy". */
static bool is_last_of_name(const char **out, size_t *length, zip_t *archive, zip_int64_t index)
{
    *out = zip_get_name(archive, (zip_uint64_t)index, 0);
    *length = *out ? member_length(*out) : 0;
    for (zip_int64_t k = index + 1; *out && k < zip_get_num_entries(archive, 0); k++)
        if (is_named(archive, k, *out, *length))
            return false;
    return *out != NULL;
}

static void list_members(cli_bytes *out, zip_t *archive)
{
    const char *name;
    size_t length;
    for (zip_int64_t k = 0; k < zip_get_num_entries(archive, 0); k++)
        if (is_last_of_name(&name, &length, archive, k))
            cli_bytes_printf(out, "%s'%.*s'", out->size ? ", " : "", (int)length, name);
    cli_bytes_put(out, "", 1);
}

static kiln_status refuse_member(zip_t *archive, const char *member)
{
    cli_bytes names = {NULL, 0, 0, false};
    list_members(&names, archive);
    kiln_status status =
        names.failed ? cli_fail(KILN_ERROR_MEMORY, "out of memory for an archive")
        : member ? cli_fail(KILN_ERROR_NOT_FOUND, "there is no '%s' in it; there are %s", member, names.data)
                 : cli_fail(KILN_ERROR_INVALID, "it has several arrays, and FILE.npz:NAME says which: %s",
                            names.data);
    free(names.data);
    return status;
}

/* The last entry of that name, or of the only one; -1: neither. */
static zip_int64_t find_member(zip_t *archive, const char *member)
{
    zip_int64_t last = zip_get_num_entries(archive, 0) - 1;
    const char *only = !member && last >= 0 ? zip_get_name(archive, (zip_uint64_t)last, 0) : NULL;
    for (zip_int64_t k = last; k >= 0 && member; k--)
        if (is_named(archive, k, member, strlen(member)))
            return k;
    for (zip_int64_t k = 0; k < last && only; k++)
        only = is_named(archive, k, only, member_length(only)) ? only : NULL;
    return only ? last : -1;
}

/* Up to `wanted` bytes altogether; false where the archive is damaged. */
static bool read_up_to(cli_bytes *out, zip_file_t *file, size_t wanted)
{
    unsigned char part[1 << 14];
    zip_int64_t size = 1;
    while (out->size < wanted && size > 0 && !out->failed) {
        size_t left = wanted - out->size;
        size = zip_fread(file, part, left < sizeof part ? left : sizeof part);
        if (size > 0)
            cli_bytes_put(out, part, (size_t)size);
    }
    return size >= 0;
}

/* As much as the .npy header says that there is, whatever the member unpacks to. A byte more is asked for: at
 * its end libzip compares the checksum. */
static kiln_status read_entry(cli_bytes *out, zip_t *archive, zip_uint64_t index)
{
    size_t wanted = 0;
    zip_file_t *file = zip_fopen_index(archive, index, 0);
    if (!file)
        return cli_fail(KILN_ERROR_FORMAT, "the archive is damaged: %s", zip_strerror(archive));
    bool is_good = read_up_to(out, file, KILN_NPY_HEADER_MAX);
    kiln_status status = KILN_OK;
    if (is_good && out->size > 0 && !out->failed)
        status = kiln_array_npy_size(&wanted, out->data, out->size);
    if (status == KILN_OK && out->size == KILN_NPY_HEADER_MAX)
        is_good = read_up_to(out, file, wanted < SIZE_MAX ? wanted + 1 : wanted);
    if (!is_good)
        status = cli_fail(KILN_ERROR_FORMAT, "the archive is damaged: %s", zip_file_strerror(file));
    else if (status != KILN_OK)
        cli_fail(status, "%s", kiln_error_message());
    zip_fclose(file);
    return status;
}

static kiln_status read_member(kiln_array **out, zip_t *archive, const format_input *in)
{
    cli_bytes bytes = {NULL, 0, 0, false};
    zip_int64_t index = find_member(archive, in->member);
    if (index < 0)
        return refuse_member(archive, in->member);
    kiln_status status = read_entry(&bytes, archive, (zip_uint64_t)index);
    if (status == KILN_OK && bytes.failed)
        status = cli_fail(KILN_ERROR_MEMORY, "out of memory for an array");
    if (status == KILN_OK)
        status = bytes.size ? kiln_array_load_npy_bytes(out, bytes.data, bytes.size, NULL, in->device)
                            : cli_fail(KILN_ERROR_FORMAT, "that member is empty");
    free(bytes.data);
    return status;
}

/* NULL, after cli_fail. */
static zip_t *open_archive(const format_input *in)
{
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *source = zip_source_buffer_create(in->data, in->size, 0, &error);
    zip_t *archive = source ? zip_open_from_source(source, ZIP_RDONLY, &error) : NULL;
    if (!archive)
        cli_fail(KILN_ERROR_FORMAT, "the archive is damaged: %s", zip_error_strerror(&error));
    if (!archive && source)
        zip_source_free(source);
    zip_error_fini(&error);
    return archive;
}

kiln_status format_npz_read(kiln_array **out, const format_input *in)
{
    zip_t *archive = open_archive(in);
    if (!archive)
        return KILN_ERROR_FORMAT;
    kiln_status status = read_member(out, archive, in);
    zip_discard(archive);
    return status;
}

kiln_status format_npz_list(cli_bytes *out, const format_input *in)
{
    zip_t *archive = open_archive(in);
    if (!archive)
        return KILN_ERROR_FORMAT;
    for (zip_int64_t k = 0; k < zip_get_num_entries(archive, 0); k++) {
        const char *name;
        size_t length;
        if (!is_last_of_name(&name, &length, archive, k))
            continue;
        cli_bytes_put(out, name, length);
        cli_bytes_put(out, "", 1);
    }
    zip_discard(archive);
    return KILN_OK;
}

/* ---- writing ---- */

enum { NUMPYS_TIME = 315532800 }; /* 1980-01-01, which every member has: equal arrays, equal bytes */

static kiln_status add_member(zip_t *archive, const cli_result *result)
{
    char name[256];
    void *bytes = NULL;
    size_t size = 0;
    kiln_status status = kiln_array_save_npy_bytes(&bytes, &size, result->array);
    if (status != KILN_OK)
        return status;
    snprintf(name, sizeof name, "%s.npy", result->name);
    zip_source_t *source = zip_source_buffer(archive, bytes, size, 1);
    if (!source)
        free(bytes);
    zip_int64_t index = source ? zip_file_add(archive, name, source, ZIP_FL_ENC_UTF_8) : -1;
    if (index < 0) {
        zip_source_free(source);
        return cli_fail(KILN_ERROR_INVALID, "'%s' cannot be put into an archive: %s", result->name,
                        zip_strerror(archive));
    }
    zip_set_file_compression(archive, (zip_uint64_t)index, ZIP_CM_STORE, 0);
    zip_file_set_mtime(archive, (zip_uint64_t)index, NUMPYS_TIME, 0);
    return KILN_OK;
}

static void take_bytes(cli_bytes *out, zip_source_t *source)
{
    unsigned char part[1 << 14];
    zip_int64_t size = -1;
    if (zip_source_open(source) == 0) {
        while ((size = zip_source_read(source, part, sizeof part)) > 0)
            cli_bytes_put(out, part, (size_t)size);
        zip_source_close(source);
    }
    out->failed = out->failed || size < 0;
}

kiln_status format_npz_write(cli_bytes *out, const cli_result *results, int n)
{
    zip_error_t error;
    kiln_status status = KILN_OK;
    zip_error_init(&error);
    zip_source_t *source = zip_source_buffer_create(NULL, 0, 0, &error);
    zip_t *archive = source ? zip_open_from_source(source, ZIP_TRUNCATE, &error) : NULL;
    if (!archive) {
        zip_source_free(source);
        return cli_fail(KILN_ERROR_MEMORY, "no archive could be made: %s", zip_error_strerror(&error));
    }
    zip_source_keep(source);
    for (int k = 0; k < n && status == KILN_OK; k++)
        status = add_member(archive, &results[k]);
    if (status == KILN_OK && zip_close(archive) != 0)
        status = cli_fail(KILN_ERROR_IO, "the archive could not be made: %s", zip_strerror(archive));
    else if (status == KILN_OK)
        archive = NULL;
    if (archive)
        zip_discard(archive);
    else
        take_bytes(out, source);
    zip_source_free(source);
    zip_error_fini(&error);
    return status;
}

#else

static kiln_status lacking(void)
{
    return cli_fail(KILN_ERROR_UNSUPPORTED,
                    "this kiln was built without libzip, which .npz needs; .npy does not");
}

kiln_status format_npz_read(kiln_array **out, const format_input *in)
{
    (void)out;
    (void)in;
    return lacking();
}

kiln_status format_npz_list(cli_bytes *out, const format_input *in)
{
    (void)out;
    (void)in;
    return lacking();
}

kiln_status format_npz_write(cli_bytes *out, const cli_result *results, int n)
{
    (void)out;
    (void)results;
    (void)n;
    return lacking();
}

#endif
