/* sparse_matrix.c - a sparse matrix from entries of which some are at one place: these are added up, and a
 * product with a vector adds up rows. The reference is a loop over the entries. */
#include <kiln/kiln.h>
#include <kiln/ops.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ENTRIES = 30000, ROWS = 200, COLUMNS = 150 };

static void check(kiln_status status, const char *doing)
{
    if (status == KILN_OK)
        return;
    fprintf(stderr, "%s: %s\n", doing, kiln_error_message());
    exit(1);
}

static kiln_array *uploaded(const void *data, kiln_dtype dtype, int64_t count)
{
    kiln_array *a = NULL;
    check(kiln_array_from_host(&a, data, dtype, 1, &count, KILN_DEVICE_DEFAULT), "upload");
    return a;
}

int main(void)
{
    static int64_t place[ENTRIES];
    static double value[ENTRIES], x[COLUMNS], expected[ROWS], got[ROWS];
    unsigned state = 1;
    for (int c = 0; c < COLUMNS; ++c)
        x[c] = c % 7 - 3;
    for (int e = 0; e < ENTRIES; ++e) {
        state = state * 1664525u + 1013904223u;
        const int row = (int)(state >> 20) % ROWS, column = (int)(state >> 9) % COLUMNS;
        place[e] = (int64_t)row * COLUMNS + column;
        value[e] = (double)(state >> 8 & 255) / 16;
        expected[row] += value[e] * x[column];
    }
    kiln_array *places = uploaded(place, KILN_INT64, ENTRIES),
               *values = uploaded(value, KILN_FLOAT64, ENTRIES);
    kiln_array *vector = uploaded(x, KILN_FLOAT64, COLUMNS);

    /* distinct places, and of each entry the number of its own */
    kiln_array *entry[2] = {NULL, NULL}, *sums = NULL, *columns = NULL, *rows = NULL, *factors = NULL;
    check(kiln_unique(entry, kiln_arg_array(places), KILN_UNIQUE_INVERSE), "places");
    const int64_t count = kiln_array_size(entry[0]);
    check(kiln_segment_sum(&sums, values, entry[1], count), "sums of entries");
    check(kiln_remainder(&columns, entry[0], COLUMNS), "columns");
    check(kiln_floor_divide(&rows, entry[0], COLUMNS), "rows");

    /* the product: x[columns] * sums, added up by rows */
    kiln_array *product = NULL, *result = NULL;
    const kiln_index by_column[] = {kiln_index_array(columns)};
    check(kiln_array_get(&factors, vector, by_column, 1), "x[columns]");
    check(kiln_multiply(&product, factors, sums), "products");
    check(kiln_segment_sum(&result, product, rows, ROWS), "sums of rows");
    check(kiln_array_to_host(result, got, sizeof got), "download");

    int wrong = 0;
    for (int r = 0; r < ROWS; ++r)
        wrong += fabs(got[r] - expected[r]) > 1e-9 * (fabs(expected[r]) + 1);
    printf("%d entries at %lld places, %lld rows: %s\n", ENTRIES, (long long)count, (long long)ROWS,
           wrong ? "wrong" : "right");
    kiln_array *const all[] = {places, values,  vector,  entry[0], entry[1], sums,
                               rows,   columns, factors, product,  result};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k)
        kiln_array_free(all[k]);
    return wrong != 0;
}
