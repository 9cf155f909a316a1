/* cli_files.c - files that are read and written whole. */
#include "cli.h"
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* All of it, or what `most` bytes hold. */
static void *read_all(FILE *file, size_t *size, size_t most)
{
    size_t room = 1 << 16, n;
    char *data = malloc(room + 1);
    *size = 0;
    while (data && *size < most && (n = fread(data + *size, 1, room - *size, file)) > 0) {
        *size += n;
        if (*size < room)
            continue;
        char *more = realloc(data, 2 * room + 1);
        if (!more)
            free(data);
        data = more;
        room *= 2;
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

/* The file behind symbolic links, which are written through: of one that leads nowhere yet, what it names. To
 * be freed. */
static char *name_behind(const char *path)
{
    char target[PATH_MAX], *real = realpath(path, NULL);
    ssize_t length = real ? -1 : readlink(path, target, sizeof target - 1);
    if (real || length < 0)
        return real ? real : strdup(path);
    target[length] = 0;
    const char *slash = target[0] == '/' ? NULL : strrchr(path, '/');
    char *whole = malloc(strlen(path) + (size_t)length + 2);
    if (whole)
        sprintf(whole, "%.*s%s", slash ? (int)(slash - path) + 1 : 0, path, target);
    return whole;
}

/* What is no plain file (a pipe, /dev/stdout) is written in place. */
static bool is_special(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

/* What is written first, beside the file. */
static char *name_beside(const char *path)
{
    char *beside = malloc(strlen(path) + 8);
    if (beside)
        sprintf(beside, "%s.new", path);
    return beside;
}

bool cli_file_can_write(const char *path)
{
    char *beside = name_beside(path);
    FILE *file = beside ? fopen(beside, "wb") : NULL;
    if (!file)
        cli_complain("kiln: %s: %s", path, strerror(errno));
    else {
        fclose(file);
        unlink(beside);
    }
    free(beside);
    return file != NULL;
}

static bool write_in_place(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    bool is_written = file && fwrite(data, 1, size, file) == size;
    return file && fclose(file) == 0 && is_written;
}

static bool write_and_rename(const char *path, const void *data, size_t size, bool is_synced)
{
    char *beside = name_beside(path);
    FILE *file = beside ? fopen(beside, "wb") : NULL;
    bool is_written = false;
    if (file) {
        is_written = fwrite(data, 1, size, file) == size && fflush(file) == 0 &&
                     (!is_synced || fsync(fileno(file)) == 0);
        is_written = fclose(file) == 0 && is_written && rename(beside, path) == 0;
        if (!is_written)
            unlink(beside);
    }
    free(beside);
    return is_written;
}

bool cli_file_replace(const char *path, const void *data, size_t size, bool is_synced)
{
    char *real = name_behind(path);
    bool is_written = real && (is_special(path) ? write_in_place(path, data, size)
                                                : write_and_rename(real, data, size, is_synced));
    free(real);
    return is_written;
}

bool cli_file_write(const char *path, const void *data, size_t size)
{
    bool is_written = cli_file_replace(path, data, size, true);
    if (!is_written)
        cli_complain("kiln: %s: %s", path, strerror(errno));
    return is_written;
}

/* ---- bytes that grow ---- */

void cli_bytes_put(cli_bytes *bytes, const void *data, size_t size)
{
    size_t wanted = bytes->size + size;
    if (bytes->failed)
        return;
    if (wanted > bytes->room) {
        size_t room = wanted > 2 * bytes->room ? wanted : 2 * bytes->room;
        unsigned char *more = realloc(bytes->data, room);
        bytes->failed = !more;
        if (!more)
            return;
        bytes->data = more;
        bytes->room = room;
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
