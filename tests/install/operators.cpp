// A C++ program over <kiln/kiln.hpp>: values with operators, functions by name, exceptions; run, and traced.
#include <kiln/kiln.h>
#include <kiln/kiln.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

using kiln::array;

static int faults;

static void expect(bool holds, const char *what)
{
    if (!holds)
        std::fprintf(stderr, "not so: %s\n", what);
    faults += !holds;
}
#define EXPECT(holds) expect(holds, #holds)

template <class T> static std::vector<T> fetched(const array &x)
{
    std::vector<T> elements(static_cast<size_t>(x.size()));
    kiln::check(kiln_array_to_host(x.get(), elements.data(), elements.size() * sizeof(T)));
    return elements;
}

template <class T> static array made(kiln_dtype dtype, std::initializer_list<T> list)
{
    const int64_t count = static_cast<int64_t>(list.size());
    array x;
    kiln::check(kiln_array_from_host(x.out(), list.begin(), dtype, 1, &count, KILN_DEVICE_DEFAULT));
    return x;
}

template <class T> static bool holds(const array &x, kiln_dtype dtype, std::vector<T> expected)
{
    return x.dtype() == dtype && fetched<T>(x) == expected;
}

static void signs()
{
    const array x = made<float>(KILN_FLOAT32, {1, -2, 7}), y = made<float>(KILN_FLOAT32, {2, 3, -4});
    const array k = made<int32_t>(KILN_INT32, {6, 5, -3}), bit = made<int32_t>(KILN_INT32, {1, 2, 3});
    EXPECT(holds<float>(x + y, KILN_FLOAT32, {3, 1, 3}));
    EXPECT(holds<float>(2 - x, KILN_FLOAT32, {1, 4, -5}));
    EXPECT(holds<float>(x * 0.5, KILN_FLOAT32, {0.5f, -1, 3.5f}));
    EXPECT(holds<float>(x / 2.0f, KILN_FLOAT32, {0.5f, -1, 3.5f}));
    EXPECT(holds<float>(x % y, KILN_FLOAT32, {1, 1, -1})); // the sign of y
    const auto [whole, left] = kiln::divmod(x, y); // two results
    EXPECT(holds<float>(whole, KILN_FLOAT32, {0, -1, -2}) && holds<float>(left, KILN_FLOAT32, {1, 1, -1}));
    EXPECT(holds<float>(-x, KILN_FLOAT32, {-1, 2, -7}));
    EXPECT(holds<float>(+x, KILN_FLOAT32, {1, -2, 7}));
    EXPECT(holds<double>(k / 2, KILN_FLOAT64, {3, 2.5, -1.5})); // true division
    EXPECT(holds<int32_t>(k & bit, KILN_INT32, {0, 0, 1}));
    EXPECT(holds<int32_t>(k | bit, KILN_INT32, {7, 7, -1}));
    EXPECT(holds<int32_t>(k ^ bit, KILN_INT32, {7, 7, -2}));
    EXPECT(holds<int32_t>(k << 2, KILN_INT32, {24, 20, -12}));
    EXPECT(holds<int32_t>(k >> bit, KILN_INT32, {3, 1, -1}));
    EXPECT(holds<int32_t>(~k, KILN_INT32, {-7, -6, 2}));
    using flags = std::vector<unsigned char>;
    EXPECT(fetched<unsigned char>(x == 7) == (flags{0, 0, 1}));
    EXPECT(fetched<unsigned char>(x != 7) == (flags{1, 1, 0}));
    EXPECT(fetched<unsigned char>(x < y) == (flags{1, 1, 0}));
    EXPECT(fetched<unsigned char>(x <= 1) == (flags{1, 1, 0}));
    EXPECT(fetched<unsigned char>(x > y) == (flags{0, 0, 1}));
    EXPECT(fetched<unsigned char>(1 >= x) == (flags{1, 1, 0}));
    EXPECT((x + kiln_arg_float64(1)).dtype() == KILN_FLOAT64);
    EXPECT((x + true).dtype() == KILN_FLOAT32 && (k + 1u).dtype() == KILN_INT32 &&
           (k + 1l).dtype() == KILN_INT32 && (k + 1ll).dtype() == KILN_INT32 &&
           (k + 1ul).dtype() == KILN_INT32 && (k + 1ull).dtype() == KILN_INT32);
}

static void functions()
{
    array x;
    kiln::check(kiln_array_arange(x.out(), 0, 12, 1, KILN_FLOAT32, KILN_DEVICE_DEFAULT));
    const array m = x.reshape({3, -1});
    EXPECT(holds<float>(kiln::sum(m), KILN_FLOAT32, {66}));
    EXPECT(holds<float>(kiln::sum(m, 0), KILN_FLOAT32, {12, 15, 18, 21}));
    EXPECT(holds<float>(kiln::sum(m, {0, 1}), KILN_FLOAT32, {66}));
    EXPECT(kiln::sum(m, -1, true).ndim() == 2 && kiln::sum(m, -1, true).shape()[1] == 1);
    EXPECT(kiln::sum(m, kiln::axes(), true).ndim() == 2);
    EXPECT(holds<float>(kiln::var(m, -1), KILN_FLOAT32, {1.25f, 1.25f, 1.25f}));
    EXPECT(holds<float>(kiln::var(m, -1, false, 3), KILN_FLOAT32, {5, 5, 5}));
    EXPECT(holds<float>(kiln::where(x < 10, 0, x)["9:"], KILN_FLOAT32, {0, 10, 11}));
    EXPECT(holds<float>(kiln::clip(x, 2, 3)["1:5"], KILN_FLOAT32, {2, 2, 3, 3}));
    EXPECT(holds<float>(m.transpose()["1"], KILN_FLOAT32, {1, 5, 9}));
    EXPECT(holds<float>(m.transpose({1, 0})["1"], KILN_FLOAT32, {1, 5, 9}));
    EXPECT(m["0"].broadcast_to({2, 4}).size() == 8);
    EXPECT(holds<float>(kiln::apply("add", x, 1)[":2"], KILN_FLOAT32, {1, 2}));
    const kiln::array masked = kiln::applied("add").where(x > 0).dtype(KILN_FLOAT64)(x, 1);
    EXPECT(holds<double>(masked[":2"], KILN_FLOAT64, {0, 2}));
    kiln::applied("multiply").where(x < 1).casting("same_kind").into(masked, masked, 0);
    EXPECT(holds<double>(masked[":2"], KILN_FLOAT64, {0, 2}));
    EXPECT(holds<float>(kiln::applied("max").initial(100)(x), KILN_FLOAT32, {100}));
    const auto columns = kiln::call_options().over(0).keepdims();
    const array largest = kiln::applied("max").where(m > 8).initial(-1).with(columns)(m);
    EXPECT(largest.ndim() == 2 && holds<float>(largest, KILN_FLOAT32, {-1, 9, 10, 11}));
    const auto fortran = kiln::call_options().order(KILN_ORDER_FORTRAN);
    EXPECT(kiln::applied("add").with(fortran)(m, 1).transpose().is_c_contiguous());
}

static void references()
{
    array x = made<float>(KILN_FLOAT32, {1, 2}), y = x, z = std::move(x);
    EXPECT(x.get() == nullptr && y.get() == z.get());
    array w(kiln_array_retain(y.get()));
    w = y + 1;
    y = y["1:"];
    y = std::move(z);
    EXPECT(y.size() == 2 && holds<float>(w, KILN_FLOAT32, {2, 3}));
    kiln_array *given = w.release();
    EXPECT(w.get() == nullptr);
    kiln_array_free(given);
}

template <class Call> static bool fails(kiln_status status, const char *words, Call call)
{
    try {
        call();
    } catch (const kiln::error &e) {
        return e.status() == status && std::strstr(e.what(), words);
    }
    return false;
}

static void errors()
{
    const array x = made<float>(KILN_FLOAT32, {1, 2}), y = made<float>(KILN_FLOAT32, {1, 2, 3});
    EXPECT(fails(KILN_ERROR_SHAPE, "broadcast", [&] { (void)(x + y); }));
    EXPECT(fails(KILN_ERROR_TYPE, "bitwise_and", [&] { (void)(x & y); }));
    EXPECT(fails(KILN_ERROR_NOT_FOUND, "nothing", [&] { (void)kiln::apply("nothing", x); }));
    EXPECT(fails(KILN_ERROR_SHAPE, "transpose", [&] { (void)x.transpose({1, 0}); }));
    EXPECT(fails(KILN_ERROR_INVALID, "NULL", [&] { (void)(array() + 1); }));
}

static array centred(const array &x, const array &gain)
{
    const array d = x - kiln::mean(x, -1, true);
    return d / kiln::sqrt(kiln::mean(d * d, -1, true) + 1e-5) * gain;
}

// The same function, on arrays with data and on those of a trace.
static void traced()
{
    kiln_trace *trace = nullptr;
    kiln_kernel *kernel = nullptr, *twice = nullptr;
    const int64_t shape[] = {3, 4};
    array x, gain, m, result;
    kiln::check(kiln_elementwise_create(&twice, "T x", "T y", "y = x + x", "twice", nullptr));
    kiln::check(kiln_trace_begin(&trace, "centred"));
    kiln::check(kiln_trace_input(x.out(), trace, "x", KILN_FLOAT32, 2, shape));
    kiln::check(kiln_trace_input(gain.out(), trace, "gain", KILN_FLOAT32, 1, shape + 1));
    result = kiln::call(twice, centred(x, gain));
    kiln_array *const results[] = {result.get()};
    kiln::check(kiln_trace_end(&kernel, trace, results, 1, nullptr));
    kiln_trace_free(trace);
    EXPECT(fails(KILN_ERROR_INVALID, "has ended", [&] { (void)(x + 1); }));
    kiln::check(kiln_array_arange(m.out(), 0, 12, 1, KILN_FLOAT32, KILN_DEVICE_DEFAULT));
    m = m.reshape({3, 4});
    const std::vector<float> fused = fetched<float>(kiln::call(kernel, m, m["0"])),
                             apart = fetched<float>(kiln::call(twice, centred(m, m["0"])));
    for (size_t k = 0; k < 12; ++k)
        EXPECT(std::fabs(fused[k] - apart[k]) <= 1e-6f * std::fabs(apart[k]));
    EXPECT(apart[1] != 0);
    kiln_kernel_free(kernel);
    kiln_kernel_free(twice);
}

int main()
{
    try {
        signs();
        functions();
        references();
        errors();
        traced();
    } catch (const kiln::error &e) {
        std::fprintf(stderr, "%s: %s\n%s\n", kiln_status_name(e.status()), e.what(), kiln_error_log());
        return 1;
    }
    std::puts(faults ? "wrong" : "operators, functions and traces of a C++ program");
    return faults != 0;
}
