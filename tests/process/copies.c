#include "copies.h"

#include <dlfcn.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/kiln-copies-XXXXXX";
static pid_t owner;

static void require(bool is_true, const char *what)
{
    if (is_true)
        return;
    fprintf(stderr, "copies: %s\n", what);
    exit(1);
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info, (void)type, (void)at;
    return remove(path);
}

static void remove_folder(void)
{
    if (owner == getpid())
        nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

void copy_library(char *path, size_t size, const char *name)
{
    static char piece[1 << 16];
    if (!owner) {
        require(mkdtemp(folder) != NULL, "no folder");
        owner = getpid();
        atexit(remove_folder);
    }
    snprintf(path, size, "%s/%s", folder, name);
    FILE *from = fopen(KILN_LIBRARY, "rb"), *to = fopen(path, "wb");
    require(from && to, "the library's file cannot be copied");
    for (size_t n; (n = fread(piece, 1, sizeof piece, from)) > 0;)
        require(fwrite(piece, 1, n, to) == n, "the copy cannot be written");
    fclose(from);
    require(fclose(to) == 0, "the copy cannot be written");
}

void copy_open(copy *c, const char *path, int flags)
{
    c->handle = dlopen(path, flags);
    require(c->handle != NULL, c->handle ? "" : dlerror());
#define X(name)                                                                                              \
    *(void **)&c->name = dlsym(c->handle, "kiln_" #name);                                                    \
    require(c->name != NULL, #name);
    COPY_FUNCTIONS(X)
#undef X
}

void copy_close(copy *c)
{
    require(dlclose(c->handle) == 0, "dlclose");
    memset(c, 0, sizeof *c);
}

static bool all_are(const double *value, int64_t n, double expected)
{
    for (int64_t i = 0; i < n; i++)
        if (value[i] != expected)
            return false;
    return true;
}

bool copy_computes(const copy *c, const char *body, double z, int64_t n)
{
    kiln_kernel *kernel = NULL;
    kiln_array *in = NULL, *out = NULL;
    double *value = malloc((size_t)n * sizeof *value);
    require(value != NULL, "no memory");
    for (int64_t i = 0; i < n; i++)
        value[i] = 3;
    kiln_status status = c->array_from_host(&in, value, KILN_FLOAT64, 1, &n, KILN_DEVICE_HOST);
    if (status == KILN_OK)
        status = c->elementwise_create(&kernel, "T x", "T z", body, "plugin", NULL);
    if (status == KILN_OK) {
        kiln_arg x = kiln_arg_array(in);
        status = c->kernel_call(kernel, &out, 1, &x, 1, NULL);
    }
    if (status == KILN_OK)
        status = c->array_to_host(out, value, (size_t)n * sizeof *value);
    bool is_right = status == KILN_OK && all_are(value, n, z);
    if (!is_right)
        fprintf(stderr, "%s: %s, %g, not %g\n", body, status == KILN_OK ? "wrong" : c->error_message(),
                value[0], z);
    c->array_free(in);
    c->array_free(out);
    c->kernel_free(kernel);
    free(value);
    return is_right;
}
