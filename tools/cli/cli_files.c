/* cli_files.c - files that are read and written whole. */
#include "cli.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *read_all(FILE *file, size_t *size)
{
    size_t room = 1 << 16, n;
    char *data = malloc(room + 1);
    *size = 0;
    while (data && (n = fread(data + *size, 1, room - *size, file)) > 0) {
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
    void *data = file ? read_all(file, size) : NULL;
    bool is_read = data && !ferror(file);
    if (!is_read)
        fprintf(stderr, "kiln: %s: %s\n", path, strerror(errno));
    if (file)
        fclose(file);
    if (is_read)
        return data;
    free(data);
    return NULL;
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
        fprintf(stderr, "kiln: %s: %s\n", path, strerror(errno));
    else {
        fclose(file);
        unlink(beside);
    }
    free(beside);
    return file != NULL;
}

bool cli_file_write(const char *path, const void *data, size_t size)
{
    char *beside = name_beside(path);
    FILE *file = beside ? fopen(beside, "wb") : NULL;
    bool is_written = false;
    if (file) {
        is_written = fwrite(data, 1, size, file) == size && fflush(file) == 0 && fsync(fileno(file)) == 0;
        is_written = fclose(file) == 0 && is_written && rename(beside, path) == 0;
    }
    if (!is_written) {
        fprintf(stderr, "kiln: %s: %s\n", path, strerror(errno));
        if (file)
            unlink(beside);
    }
    free(beside);
    return is_written;
}
