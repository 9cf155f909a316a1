/* cli_files.c - files that are read and written whole. */
#include "cli.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* All of it, or what `most` bytes hold. */
static void *read_all(FILE *file, size_t *size, size_t most)
{
    size_t capacity = 1 << 16, n;
    char *data = malloc(capacity + 1);
    *size = 0;
    while (data && *size < most && (n = fread(data + *size, 1, capacity - *size, file)) > 0) {
        *size += n;
        if (*size < capacity)
            continue;
        char *more = realloc(data, 2 * capacity + 1);
        if (!more)
            free(data);
        data = more;
        capacity *= 2;
    }
    if (data)
        data[*size] = 0;
    return data;
}

void *cli_file_read(size_t *size, const char *path)
{
    FILE *file = fopen(path, "rb");
    void *data = file ? read_all(file, size, SIZE_MAX) : NULL;
    bool is_read = data && !ferror(file);
    if (!is_read)
        cli_complain("kiln: %s: %s", path, strerror(errno));
    if (file)
        fclose(file);
    if (is_read)
        return data;
    free(data);
    return NULL;
}

bool cli_files_are_same(const char *path, const char *other)
{
    struct stat a, b;
    return stat(path, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool cli_file_can_write(const char *path)
{
    char *folder = strdup(path);
    char *slash = folder ? strrchr(folder, '/') : NULL;
    if (slash)
        slash[slash == folder] = 0;
    bool is_new = access(path, F_OK) != 0 && errno == ENOENT;
    const char *asked = is_new ? slash ? folder : "." : path;
    bool can = folder && faccessat(AT_FDCWD, asked, W_OK, AT_EACCESS) == 0;
    if (!can)
        cli_complain("kiln: cannot write %s: %s", path, strerror(errno));
    free(folder);
    return can;
}

bool cli_file_write(const char *path, const void *data, size_t size)
{
    bool is_written = kiln_file_write(path, data, size, KILN_FILE_DURABLE) == KILN_OK;
    if (!is_written)
        cli_complain("kiln: %s", kiln_error_message());
    return is_written;
}

/* ---- bytes that grow ---- */

void cli_bytes_put(cli_bytes *bytes, const void *data, size_t size)
{
    size_t wanted = bytes->size + size;
    if (bytes->failed)
        return;
    if (wanted > bytes->capacity) {
        size_t capacity = wanted > 2 * bytes->capacity ? wanted : 2 * bytes->capacity;
        unsigned char *more = realloc(bytes->data, capacity);
        bytes->failed = !more;
        if (!more)
            return;
        bytes->data = more;
        bytes->capacity = capacity;
    }
    if (size > 0)
        memcpy(bytes->data + bytes->size, data, size);
    bytes->size = wanted;
}

void cli_bytes_printf(cli_bytes *bytes, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cli_bytes_put(bytes, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

kiln_status cli_bytes_read(cli_bytes *bytes, const char *path, size_t most)
{
    bool is_input = strcmp(path, "-") == 0;
    FILE *file = is_input ? stdin : fopen(path, "rb");
    *bytes = (cli_bytes){NULL, 0, 0, false};
    if (file)
        bytes->data = read_all(file, &bytes->size, most);
    bool is_read = bytes->data && !ferror(file);
    int code = errno;
    if (file && !is_input)
        fclose(file);
    if (is_read)
        return KILN_OK;
    free(bytes->data);
    bytes->data = NULL;
    return cli_fail(file ? KILN_ERROR_IO : KILN_ERROR_NOT_FOUND, "cannot read %s: %s",
                    is_input ? "standard input" : path, strerror(code));
}
