/* group_by.c - statistics of the groups of a table: how many rows each has, their sum, median and greatest.
 * Rows are sorted by group and price; a running sum and the groups' places give the rest. The reference is a
 * loop over the table. */
#include <kiln/kiln.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 20000, GROUPS = 7 };

static void check(kiln_status status, const char *doing)
{
    if (status == KILN_OK)
        return;
    fprintf(stderr, "%s: %s\n", doing, kiln_error_message());
    exit(1);
}

/* A table as programs exchange them: "shop,price" and a line for each row. */
static char *write_table(int *shop, float *price)
{
    char *csv = malloc(32 * (ROWS + 1)), *at = csv;
    unsigned state = 1;
    if (!csv)
        exit(1);
    at += sprintf(at, "shop,price\n");
    for (int r = 0; r < ROWS; ++r) {
        state = state * 1664525u + 1013904223u;
        shop[r] = (int)((state >> 16) * (state >> 16 & 3) % GROUPS);
        price[r] = (float)(state >> 8 & 4095) / 16;
        at += sprintf(at, "%d,%.4f\n", shop[r], price[r]);
    }
    return csv;
}

static void read_table(const char *csv, int32_t *shop, float *price)
{
    const char *line = strchr(csv, '\n');
    for (int r = 0; r < ROWS; ++r, line = strchr(line + 1, '\n'))
        if (sscanf(line + 1, "%d,%f", &shop[r], &price[r]) != 2)
            exit(1);
}

static int compare(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The statistics of one group, by a loop. */
static int is_right(int group, const int *shop, const float *price, const double *got)
{
    static float own[ROWS];
    int count = 0;
    double sum = 0;
    for (int r = 0; r < ROWS; ++r)
        if (shop[r] == group) {
            own[count++] = price[r];
            sum += price[r];
        }
    qsort(own, (size_t)count, sizeof *own, compare);
    return got[0] == count && fabs(got[1] - sum) <= 1e-9 * sum &&
           got[2] == (own[(count - 1) / 2] + own[count / 2]) / 2.0f && got[3] == own[count - 1];
}

int main(void)
{
    static int shop[ROWS];
    static int32_t read_shop[ROWS];
    static float price[ROWS], read_price[ROWS], sorted[ROWS];
    static double sums[ROWS];
    const int64_t shape[] = {ROWS};
    const kiln_sort_key keys[] = {{"shop", "int32", 0}, {"price", "float32", 0}};
    kiln_kernel *sort = NULL, *add = NULL;
    kiln_array *in[2] = {NULL, NULL}, *table[2] = {NULL, NULL}, *running = NULL, *group[2] = {NULL, NULL};
    int64_t counts[GROUPS], begin = 0;
    int32_t names[GROUPS];
    int wrong = 0;
    char *csv = write_table(shop, price);
    read_table(csv, read_shop, read_price);
    free(csv);
    check(kiln_array_from_host(&in[0], read_shop, KILN_INT32, 1, shape, KILN_DEVICE_DEFAULT), "shops");
    check(kiln_array_from_host(&in[1], read_price, KILN_FLOAT32, 1, shape, KILN_DEVICE_DEFAULT), "prices");

    check(kiln_sort_create(&sort, "int32 shop, float32 price", "int32 s, float32 p", keys, 2,
                           "s = shop; p = price", "by_shop", NULL),
          "sort");
    check(kiln_scan_create(&add, "float32 p", "float64 sum", "p", "a + b", "sum = a", NULL, "running", NULL),
          "scan");
    const kiln_arg unsorted[] = {kiln_arg_array(in[0]), kiln_arg_array(in[1])};
    check(kiln_kernel_call(sort, table, 2, unsorted, 2, NULL), "sort");
    const kiln_arg shops = kiln_arg_array(table[0]), prices = kiln_arg_array(table[1]);
    check(kiln_kernel_call(add, &running, 1, &prices, 1, NULL), "scan");
    check(kiln_unique(group, shops, KILN_UNIQUE_COUNTS), "groups");

    const int64_t groups = kiln_array_size(group[0]);
    check(kiln_array_to_host(group[0], names, (size_t)groups * sizeof *names), "names");
    check(kiln_array_to_host(group[1], counts, (size_t)groups * sizeof *counts), "counts");
    check(kiln_array_to_host(table[1], sorted, sizeof sorted), "prices");
    check(kiln_array_to_host(running, sums, sizeof sums), "sums");
    for (int64_t g = 0; g < groups; begin += counts[g++]) {
        const int64_t last = begin + counts[g] - 1;
        const double got[] = {(double)counts[g], sums[last] - (begin > 0 ? sums[begin - 1] : 0),
                              (sorted[(begin + last) / 2] + sorted[(begin + last + 1) / 2]) / 2.0f,
                              sorted[last]};
        printf("shop %d: %5.0f rows, sum %9.1f, median %8.4f, greatest %8.4f\n", (int)names[g], got[0],
               got[1], got[2], got[3]);
        wrong += !is_right(names[g], shop, price, got);
    }
    wrong += begin != ROWS;
    for (int k = 0; k < 2; ++k) {
        kiln_array_free(in[k]);
        kiln_array_free(table[k]);
        kiln_array_free(group[k]);
    }
    kiln_array_free(running);
    kiln_kernel_free(sort);
    kiln_kernel_free(add);
    printf("%s\n", wrong ? "wrong" : "right");
    return wrong != 0;
}
