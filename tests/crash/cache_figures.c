/* cache_figures - times the cache and bundles in a folder of its own, and prints the table of
 * bench/results/cache.md. Of a release build. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "cache/bundle.h"
#include "cache/cache.h"

enum { ROWS = 1000, CODE = 50 * 1024, KEY = 700, TURNS = 2000 };

static char folder[256];
static unsigned char code[CODE];
static double times[TURNS];

static int by_time(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void print(const char *what, int count)
{
    qsort(times, (size_t)count, sizeof *times, by_time);
    printf("| %s | %.1f | %.1f | %.1f |\n", what, times[count / 2] * 1e3, times[count * 9 / 10] * 1e3,
           times[count - 1] * 1e3);
}

/* As long as a specialisation is. */
static void make_key(char key[KEY], int n)
{
    memset(key, 'k', KEY);
    snprintf(key, KEY, "%d", n);
}

static int rank(const char *label, size_t size, void *user)
{
    (void)label;
    (void)size;
    (void)user;
    return 1;
}

static void put_all(kn_cache *cache)
{
    char key[KEY];
    const kn_blob blob = {code, CODE};
    for (int n = 0; n < ROWS; n++) {
        make_key(key, n);
        double start = kn_os_now_ms();
        kn_cache_put(cache, key, KEY, "producer", &blob, NULL);
        times[n] = kn_os_now_ms() - start;
    }
    print("put, 50 KiB", ROWS);
}

static void open_often(void)
{
    for (int t = 0; t < 200; t++) {
        double start = kn_os_now_ms();
        kn_cache *cache = kn_cache_create(folder, false);
        kn_cache_warm_up(cache);
        times[t] = kn_os_now_ms() - start;
        kn_cache_free(cache);
    }
    print("open, 1,000 rows of 50 KiB", 200);
}

static void hit_often(kn_cache *cache)
{
    char key[KEY];
    for (int t = 0; t < TURNS; t++) {
        kn_blob found = KN_BLOB_INIT;
        make_key(key, t * 7 % ROWS);
        double start = kn_os_now_ms();
        if (!kn_cache_get(cache, key, KEY, "producer", &found, NULL))
            abort();
        times[t] = kn_os_now_ms() - start;
        kn_blob_free(&found);
    }
    print("hit, 50 KiB", TURNS);
}

static void miss_often(kn_cache *cache)
{
    char key[KEY];
    for (int t = 0; t < TURNS; t++) {
        kn_blob found = KN_BLOB_INIT;
        make_key(key, ROWS + t);
        double start = kn_os_now_ms();
        if (kn_cache_get(cache, key, KEY, "producer", &found, NULL))
            abort();
        times[t] = kn_os_now_ms() - start;
    }
    print("miss", TURNS);
}

static void write_bundle(const char *path)
{
    char key[KEY];
    kn_bundle_writer *writer = kn_bundle_writer_create();
    kn_blob bytes = KN_BLOB_INIT;
    for (int n = 0; n < ROWS; n++) {
        kn_bundle_row row = KN_BUNDLE_ROW_INIT;
        make_key(key, n);
        kn_blob_copy(&row.label, "label", 5);
        kn_blob_copy(&row.what, key, KEY);
        kn_blob_copy(&row.aux, "", 0);
        kn_blob_copy(&row.code, code, CODE);
        if (kn_bundle_writer_add(writer, &row) != KILN_OK)
            abort();
    }
    if (kn_bundle_writer_finish(&bytes, writer) != KILN_OK ||
        kn_os_write_file(path, bytes.data, bytes.size) != KILN_OK)
        abort();
    kn_blob_free(&bytes);
    kn_bundle_writer_free(writer);
}

static void use_bundle(const char *path)
{
    char key[KEY];
    kn_bundle *bundle = NULL;
    for (int t = 0; t < 200; t++) {
        double start = kn_os_now_ms();
        if (kn_bundle_open(&bundle, path) != KILN_OK)
            abort();
        times[t] = kn_os_now_ms() - start;
        kn_bundle_free(bundle);
    }
    print("bundle: open, 1,000 rows of 50 KiB", 200);
    if (kn_bundle_open(&bundle, path) != KILN_OK)
        abort();
    for (int t = 0; t < TURNS; t++) {
        kn_bundle_row row;
        int best;
        make_key(key, t * 7 % ROWS);
        double start = kn_os_now_ms();
        if (kn_bundle_read(&row, bundle, kn_bundle_find(bundle, key, KEY, rank, NULL, 0, &best)) != KILN_OK)
            abort();
        times[t] = kn_os_now_ms() - start;
        kn_bundle_row_free(&row);
    }
    print("bundle: hit, 50 KiB", TURNS);
    kn_bundle_free(bundle);
}

int main(void)
{
    char path[300];
    if (kn_os_make_temporary_folder(folder, sizeof folder) != KILN_OK)
        return 1;
    for (int i = 0; i < CODE; i++)
        code[i] = (unsigned char)(i * 31 + i / 251);
    puts("| microseconds | median | 90 % | most |\n| --- | ---: | ---: | ---: |");
    kn_cache *cache = kn_cache_create(folder, false);
    put_all(cache);
    hit_often(cache);
    miss_often(cache);
    kn_cache_free(cache);
    open_often();
    snprintf(path, sizeof path, "%s/figures.kiln", folder);
    write_bundle(path);
    use_bundle(path);
    kn_os_remove_folder(folder);
    return 0;
}
