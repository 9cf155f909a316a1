/* format_npz.c - NumPy's archives: .npy files in a zip file, by libzip. Compressed ones are read, too. */
#include "formats.h"
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

static void list_members(cli_bytes *out, zip_t *archive)
{
    for (zip_int64_t k = 0; k < zip_get_num_entries(archive, 0); k++) {
        const char *name = zip_get_name(archive, (zip_uint64_t)k, 0);
        if (name)
            cli_bytes_printf(out, "%s'%.*s'", out->size ? ", " : "", (int)member_length(name), name);
    }
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

/* The entry of that name, or the only one; -1: neither. */
static zip_int64_t find_member(zip_t *archive, const char *member)
{
    zip_int64_t count = zip_get_num_entries(archive, 0);
    if (!member)
        return count == 1 ? 0 : -1;
    for (zip_int64_t k = 0; k < count; k++) {
        const char *name = zip_get_name(archive, (zip_uint64_t)k, 0);
        if (name && member_length(name) == strlen(member) && strncmp(name, member, strlen(member)) == 0)
            return k;
    }
    return -1;
}

static kiln_status read_entry(cli_bytes *out, zip_t *archive, zip_uint64_t index)
{
    unsigned char part[1 << 14];
    zip_file_t *file = zip_fopen_index(archive, index, 0);
    if (!file)
        return cli_fail(KILN_ERROR_FORMAT, "the archive is damaged: %s", zip_strerror(archive));
    zip_int64_t size;
    while ((size = zip_fread(file, part, sizeof part)) > 0)
        cli_bytes_put(out, part, (size_t)size);
    kiln_status status =
        size == 0 ? KILN_OK
                  : cli_fail(KILN_ERROR_FORMAT, "the archive is damaged: %s", zip_file_strerror(file));
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
        const char *name = zip_get_name(archive, (zip_uint64_t)k, 0);
        cli_bytes_put(out, name ? name : "", name ? member_length(name) : 0);
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
