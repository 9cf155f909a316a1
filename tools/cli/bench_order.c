/* bench_order.c - rows that sort all elements along one axis, or give the order of them: the whole result is
 * in order, and a permutation. */
#include "bench.h"

#include <stdlib.h>

/* Of the same elements in any order it is the same. */
static uint64_t mixed(uint64_t bits)
{
    bits = (bits ^ bits >> 31) * 0x7fb5d329728ea185u;
    return (bits ^ bits >> 27) * 0x81dadef4bc2dd44du;
}

static uint64_t bits_at(const void *data, int64_t k, size_t size)
{
    return size == sizeof(uint32_t) ? ((const uint32_t *)data)[k] : ((const uint64_t *)data)[k];
}

/* Elements are float32 or int64. */
static double number_at(const void *data, int64_t k, size_t size)
{
    return size == sizeof(float) ? (double)((const float *)data)[k] : (double)((const int64_t *)data)[k];
}

static bool check_order(bench *b, const void *in, size_t size, const void *out, size_t out_size,
                        int64_t count)
{
    const bool gives_places = size != out_size;
    uint64_t expected = 0, got = 0;
    double before = 0;
    for (int64_t k = 0; k < count; k++) {
        const int64_t place = gives_places ? ((const int64_t *)out)[k] : k;
        if (place < 0 || place >= count)
            return bench_fail(b, "wrong result: element %lld is %lld of %lld places", (long long)k,
                              (long long)place, (long long)count);
        const double x = number_at(gives_places ? in : out, place, size);
        if (k > 0 && x < before)
            return bench_fail(b, "wrong result: element %lld, %.9g, comes behind %.9g", (long long)k, x,
                              before);
        before = x;
        expected += mixed(gives_places ? (uint64_t)k : bits_at(in, k, size));
        got += mixed(gives_places ? (uint64_t)place : bits_at(out, k, size));
    }
    return expected == got || bench_fail(b, "wrong result: it has other elements than there were");
}

bool bench_order_check(bench *b, bench_data *data)
{
    kiln_array *const *array = data->set[0].array;
    size_t size = kiln_dtype_size(kiln_array_dtype(array[0])),
           out_size = kiln_dtype_size(kiln_array_dtype(array[1]));
    int64_t count = kiln_array_size(array[0]);
    void *in = malloc((size_t)count * size), *out = malloc((size_t)count * out_size);
    bool ok = in && out;
    ok = ok && bench_check(b, kiln_array_to_host(array[0], in, (size_t)count * size)) &&
         bench_check(b, kiln_array_to_host(array[1], out, (size_t)count * out_size)) &&
         check_order(b, in, size, out, out_size, count);
    data->checked = BENCH_SAMPLES;
    free(in);
    free(out);
    return ok;
}
