/* bench_histogram.c - rows that count elements by bins: as many as the result has. */
#include "bench.h"

#include <stdlib.h>

bool bench_histogram_define(bench *b, kiln_kernel **out, const bench_row *row)
{
    return bench_check(b, kiln_histogram_create(out, row->in, row->out, row->bin, NULL, NULL, NULL, NULL, 0,
                                                "bench_row", NULL));
}

static bool compare(bench *b, const int64_t *expected, const int64_t *got, int64_t bins)
{
    for (int64_t k = 0; k < bins; k++)
        if (got[k] != expected[k])
            return bench_fail(b, "wrong result: bin %lld has %lld elements, expected %lld", (long long)k,
                              (long long)got[k], (long long)expected[k]);
    return true;
}

bool bench_histogram_check(bench *b, bench_data *data, const bench_row *row)
{
    kiln_array *result = data->set[0].array[1];
    int64_t bins = kiln_array_size(result), elements = kiln_array_size(data->set[0].array[0]);
    int64_t *expected = calloc((size_t)bins, sizeof *expected), *got = calloc((size_t)bins, sizeof *got);
    bool ok = expected && got;
    for (int64_t k = 0; k < elements && ok; k++)
        expected[row->bin_at(k)]++;
    ok = ok && bench_check(b, kiln_array_to_host(result, got, (size_t)bins * sizeof *got)) &&
         compare(b, expected, got, bins);
    data->checked = (int)bins;
    free(expected);
    free(got);
    return ok;
}
