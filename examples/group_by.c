/* group_by.c - statistics of the groups of a table: group_by [FILE], a CSV of "shop,price" and a line for
 * each row; without FILE a table of its own. How many rows each shop has, their sum, median and greatest: NaN
 * where a price is NaN. Sums are by the number of the group that each row has; rows sorted by shop and price
 * give the rest. The reference sorts the table and loops over it. */
#include <kiln/kiln.h>
#include <kiln/ops.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 20000, GROUPS = 7, SHOWN = 20 };

typedef struct row {
    int64_t shop;
    double price;
} row;

typedef struct table {
    row *rows;
    int64_t count, room;
} table;

static void check(kiln_status status, const char *doing)
{
    if (status == KILN_OK)
        return;
    fprintf(stderr, "%s: %s\n", doing, kiln_error_message());
    exit(1);
}

/* ---- the table as programs exchange it ---- */

static FILE *write_table(void)
{
    FILE *csv = tmpfile();
    unsigned state = 1;
    if (!csv)
        exit(1);
    fprintf(csv, "shop,price\n");
    for (int r = 0; r < ROWS; ++r) {
        state = state * 1664525u + 1013904223u;
        fprintf(csv, "%u,%.4f\n", (state >> 16) * (state >> 16 & 3) % GROUPS, (state >> 8 & 4095) / 16.0);
    }
    rewind(csv);
    return csv;
}

/* The end of a field, which may be in quotes, with its separator; NULL: another one follows. */
static char *behind(char *at, int is_quoted, char separator)
{
    if (is_quoted && *at++ != '"')
        return NULL;
    at += strspn(at, separator ? " \t" : " \t\r\n");
    return *at == separator ? at : NULL;
}

/* A row of a line; 0: it is none. */
static int read_row(row *r, char *line)
{
    char *end, *at = line + strspn(line, " \t");
    int is_quoted = *at == '"';
    errno = 0;
    r->shop = strtoll(at + is_quoted, &end, 10);
    if (end == at + is_quoted || errno == ERANGE || !(end = behind(end, is_quoted, ',')))
        return 0;
    at = end + 1 + strspn(end + 1, " \t");
    is_quoted = *at == '"';
    r->price = strtod(at + is_quoted, &end);
    return end != at + is_quoted && behind(end, is_quoted, '\0') != NULL;
}

static table read_table(FILE *csv)
{
    table t = {NULL, 0, 0};
    char line[256];
    for (int64_t number = 1; fgets(line, sizeof line, csv); ++number) {
        row r;
        if (line[strspn(line, " \t\r\n")] == '\0') /* a line without a row, as the last one may be */
            continue;
        if (!read_row(&r, line)) {
            if (number == 1) /* names of columns */
                continue;
            fprintf(stderr, "line %lld is no row: %s\n", (long long)number, line);
            exit(1);
        }
        if (t.count == t.room) {
            t.room = 2 * t.room + 1024;
            t.rows = realloc(t.rows, (size_t)t.room * sizeof *t.rows);
            if (!t.rows)
                exit(1);
        }
        t.rows[t.count++] = r;
    }
    return t;
}

/* ---- what the groups have to be ---- */

static int compare(const void *a, const void *b)
{
    const row *x = a, *y = b;
    if (x->shop != y->shop)
        return x->shop < y->shop ? -1 : 1;
    if (isnan(x->price) || isnan(y->price))
        return isnan(x->price) - isnan(y->price);
    return (x->price > y->price) - (x->price < y->price);
}

static double middle(double low, double high)
{
    return low == high ? low : low / 2 + high / 2;
}

static int is_near(double got, double expected)
{
    return isnan(expected) ? isnan(got) : got == expected || fabs(got - expected) <= 1e-9 * fabs(expected);
}

/* A group is the rows from the first one on, which are sorted. */
static int is_right(const row *first, int64_t count, int64_t left, int64_t shop, const double *got)
{
    double sum = 0;
    for (int64_t r = 0; r < count; ++r) {
        if (r >= left || first[r].shop != shop)
            return 0;
        sum += first[r].price;
    }
    const double most = first[count - 1].price, low = first[(count - 1) / 2].price;
    const double median = isnan(most) ? most : middle(low, first[count / 2].price);
    return (count == left || first[count].shop != shop) && is_near(got[0], sum) && is_near(got[1], median) &&
           is_near(got[2], most);
}

/* ---- by kernels ---- */

/* A column of the table on the device. */
static kiln_array *column(const table *t, kiln_dtype dtype)
{
    kiln_array *a = NULL;
    char *values = malloc((size_t)t->count * 8 + 1);
    if (!values)
        exit(1);
    for (int64_t r = 0; r < t->count; ++r)
        memcpy(values + 8 * r, dtype == KILN_INT64 ? (void *)&t->rows[r].shop : (void *)&t->rows[r].price, 8);
    check(kiln_array_from_host(&a, values, dtype, 1, &t->count, KILN_DEVICE_DEFAULT), "upload");
    free(values);
    return a;
}

static void *downloaded(kiln_array *a)
{
    const size_t size = kiln_array_nbytes(a);
    void *values = malloc(size + 1);
    if (!values)
        exit(1);
    check(kiln_array_to_host(a, values, size), "download");
    kiln_array_free(a);
    return values;
}

int main(int count, char **argument)
{
    const kiln_sort_key keys[] = {{"shop", "int64", 0}, {"price", "float64", 0}};
    kiln_kernel *sort = NULL;
    kiln_array *sorted = NULL, *group[3] = {NULL, NULL, NULL}, *sums = NULL;
    FILE *csv = count > 1 ? fopen(argument[1], "r") : write_table();
    if (!csv) {
        perror(argument[1]);
        return 1;
    }
    table t = read_table(csv);
    fclose(csv);
    kiln_array *shops = column(&t, KILN_INT64), *prices = column(&t, KILN_FLOAT64);

    check(kiln_sort_create(&sort, "int64 shop, float64 price", "float64 p", keys, 2, "p = price", "by_shop",
                           NULL),
          "sort");
    const kiln_arg columns[] = {kiln_arg_array(shops), kiln_arg_array(prices)};
    check(kiln_kernel_call(sort, &sorted, 1, columns, 2, NULL), "sort");
    check(kiln_unique(group, columns[0], KILN_UNIQUE_INVERSE | KILN_UNIQUE_COUNTS), "groups");
    const int64_t groups = kiln_array_size(group[0]);
    check(kiln_segment_sum(&sums, prices, group[1], groups), "sums");

    int64_t *const names = downloaded(group[0]), *const counts = downloaded(group[2]), begin = 0;
    double *const price = downloaded(sorted), *const sum = downloaded(sums);
    int wrong = 0;
    if (t.count > 0)
        qsort(t.rows, (size_t)t.count, sizeof *t.rows, compare);
    for (int64_t g = 0; g < groups; begin += counts[g++]) {
        const int64_t last = begin + counts[g] - 1;
        const double most = price[last], low = price[(begin + last) / 2];
        /* NaN are last, and the median of any is NaN */
        const double median = isnan(most) ? most : middle(low, price[(begin + last + 1) / 2]);
        const double got[] = {sum[g], median, most};
        if (g < SHOWN)
            printf("shop %lld: %5lld rows, sum %9.1f, median %8.4f, greatest %8.4f\n", (long long)names[g],
                   (long long)counts[g], got[0], got[1], got[2]);
        wrong += !is_right(t.rows + begin, counts[g], t.count - begin, names[g], got);
    }
    wrong += begin != t.count;
    printf("%lld rows, %lld groups: %s\n", (long long)t.count, (long long)groups, wrong ? "wrong" : "right");
    kiln_array_free(shops);
    kiln_array_free(prices);
    kiln_array_free(group[1]);
    kiln_kernel_free(sort);
    free(names);
    free(counts);
    free(price);
    free(sum);
    free(t.rows);
    return wrong != 0;
}
