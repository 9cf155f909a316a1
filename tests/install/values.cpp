// A C++ program over <kiln/kiln.hpp>: arrays, kernels, devices, streams and traces as values; their references; every error of the header itself.
// Built for several standards and compilers (check_values).
#include <kiln/kiln.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

using kiln::array;

static int faults;

static void expect(bool holds, const char *what)
{
    if (!holds)
        std::fprintf(stderr, "not so: %s\n", what);
    faults += !holds;
}
#define EXPECT(...) expect((__VA_ARGS__), #__VA_ARGS__)

template <class Call> static bool fails(kiln_status status, const char *words, Call call)
{
    try {
        call();
    } catch (const kiln::error &e) {
        if (e.status() == status && std::strstr(e.what(), words))
            return true;
        std::fprintf(stderr, "%s: %s\n", kiln_status_name(e.status()), e.what());
    }
    return false;
}

using floats = std::vector<float>;
using wholes = std::vector<int64_t>;

static void made_and_fetched()
{
    const floats six = {1, 2, 3, 4, 5, 6};
    const array x(six), m(six, {2, 3}), p(six.data(), {3, 2}), list({1, 2, 3}),
        one(std::vector<bool>{true, false});
    EXPECT(x.dtype() == KILN_FLOAT32 && x.ndim() == 1 && x.to_vector<float>() == six);
    EXPECT(m.shape().to_vector() == (wholes{2, 3}) && m.shape()[1] == 3 && m.shape().size() == 2);
    EXPECT(m.strides().to_vector() == (wholes{12, 4}) && m.nbytes() == 24 && m.is_c_contiguous());
    EXPECT(p.shape().to_vector() == (wholes{3, 2}));
    EXPECT(list.dtype() == KILN_INT32 && list.to_vector<int>() == (std::vector<int>{1, 2, 3}));
    EXPECT(one.dtype() == KILN_BOOL && one.to_vector<bool>() == (std::vector<bool>{true, false}));
    EXPECT(array(std::vector<std::complex<float>>{{1, 2}}).dtype() == KILN_COMPLEX64);
    EXPECT(array({1u}).dtype() == KILN_UINT32 && array({1ll}).dtype() == KILN_INT64);
    EXPECT(kiln::zeros({2, 2}, KILN_INT16).str() == "[[0 0]\n [0 0]]");
    EXPECT(kiln::ones({}, KILN_FLOAT64).item() == 1 && kiln::full({2}, 1.5f).dtype() == KILN_FLOAT32);
    EXPECT(kiln::linspace(0, 1, 3).to_vector<double>() == (std::vector<double>{0, 0.5, 1}));
    EXPECT(kiln::arange(3).to_vector<int64_t>() == (wholes{0, 1, 2}));
    EXPECT(kiln::arange(0, 1, 0.5, KILN_FLOAT32).to_vector<float>() == (floats{0, 0.5f}));
    EXPECT(kiln::empty(m.shape(), KILN_INT8).size() == 6 && kiln::empty_like(m).dtype() == KILN_FLOAT32);
    EXPECT(kiln::zeros_like(x).to_vector<float>() == floats(6) &&
           kiln::ones_like(x).to_vector<float>() == floats(6, 1));
    float back[6];
    m.to_host(back, 6);
    EXPECT(back[5] == 6);
    array y = kiln::empty({6}, KILN_FLOAT32);
    y.set_from_host(back, 6);
    EXPECT(y.to_vector<float>() == six);
#if defined(__cpp_lib_span)
    std::span<const float> seen(six);
    EXPECT(array(seen).to_vector<float>() == six && array(seen, {3, 2}).ndim() == 2);
    y.set_from_host(seen.first(6));
    y.to_host(std::span<float>(back));
    EXPECT(back[0] == 1);
    EXPECT(fails(KILN_ERROR_SHAPE, "6 elements were given for a shape of 4", [&] { array z(seen, {2, 2}); }));
#endif
    float own[] = {7, 8};
    const array over = kiln::wrap(own, {2});
    own[0] = 9;
    EXPECT(over.to_vector<float>() == (floats{9, 8}) && !over.is_read_only() && over.data() == own);
    EXPECT(kiln::wrap(six.data(), {6}).is_read_only());
    EXPECT(fails(KILN_ERROR_SHAPE, "6 elements were given for a shape of 4", [&] { array z(six, {2, 2}); }));
    EXPECT(fails(KILN_ERROR_TYPE, "to_vector: elements of float64 were asked for, and the array has float32",
                 [&] { (void)x.to_vector<double>(); }));
    EXPECT(fails(KILN_ERROR_TYPE, "to_host: elements of int32", [&] {
        int wrong[6];
        x.to_host(wrong, 6);
    }));
    EXPECT(fails(KILN_ERROR_TYPE, "set_from_host: elements of int32", [&] {
        const int wrong[6] = {};
        y.set_from_host(wrong, 6);
    }));
    EXPECT(fails(KILN_ERROR_INVALID, "", [&] { (void)array().to_vector<float>(); }));
    EXPECT(fails(KILN_ERROR_INVALID, "", [&] { x.to_host(back, 5); }));
}

static void sorts()
{
    const array x = array{3.0, 1.0, 2.0, 1.0}.reshape({2, 2});
    using places = std::vector<int64_t>;
    using doubles = std::vector<double>;
    EXPECT(kiln::sort(x).to_vector<double>() == (doubles{1, 3, 1, 2}) &&
           kiln::argsort(x, KILN_ALL_AXES, KILN_SORT_DESCENDING).to_vector<int64_t>() ==
               (places{0, 2, 1, 3}));
    EXPECT(kiln::lexsort({x, x}, 0).to_vector<int64_t>() == (places{1, 0, 0, 1}));
    const auto [most, at] = kiln::topk(x, 1, 0);
    EXPECT(most.to_vector<double>() == (doubles{3, 1}) && at.to_vector<int64_t>() == (places{0, 0}));
    EXPECT(kiln::partition(x, 0, KILN_ALL_AXES).to_vector<double>()[0] == 1 &&
           kiln::argpartition(x, -1, KILN_ALL_AXES).to_vector<int64_t>()[3] == 0);
    EXPECT(kiln::median(x).item() == 1.5 && kiln::median(x, 1, true).shape() == kiln::extents({2, 1}));
    EXPECT(kiln::quantile(x, 0.5, {0, 1}, "higher").item() == 2 && kiln::percentile(x, 100).item() == 3);
    EXPECT(kiln::nanmedian(x).item() == 1.5 && kiln::nanquantile(x, 1).item() == 3 &&
           kiln::nanpercentile(x, 100).item() == 3);
    const auto [distinct, index, inverse, counts] = kiln::unique_all(x);
    EXPECT(distinct.to_vector<double>() == (doubles{1, 2, 3}) &&
           index.to_vector<int64_t>() == (places{1, 2, 0}) &&
           inverse.to_vector<int64_t>() == (places{2, 0, 1, 0}) &&
           counts.to_vector<int64_t>() == (places{2, 1, 1}));
    EXPECT(kiln::unique_values(x).size() == 3 && std::get<1>(kiln::unique_counts(x)).size() == 3 &&
           std::get<1>(kiln::unique_inverse(x)).ndim() == 2);
    EXPECT(fails(KILN_ERROR_SHAPE, "k asks for 3", [&] { (void)kiln::topk(x, 3); }));
}

static void lists_and_words()
{
    const array m = kiln::arange(6, KILN_INT32).reshape({2, 3});
    using ints = std::vector<int>;
    EXPECT(kiln::concatenate({m, m["0:1"]}).to_vector<int>() == (ints{0, 1, 2, 3, 4, 5, 0, 1, 2}));
    EXPECT(kiln::stack({m, m}, -1).shape() == kiln::extents({2, 3, 2}));
    EXPECT(kiln::pad(m["0"], 1, "edge").to_vector<int>() == (ints{0, 0, 1, 2, 2}));
    EXPECT(kiln::delete_at(m, {0, -1}).to_vector<int>() == (ints{1, 2, 3, 4}));
    EXPECT(kiln::select_list({m > 3, m < 2}, {m, 10 * m}, -1).to_vector<int>() ==
           (ints{0, 10, -1, -1, 4, 5}));
    EXPECT(kiln::flip(m).data() == static_cast<const int *>(m.data()) + 5);
    EXPECT(kiln::sliding_window_view(m, {2}, {1}).to_vector<int>() == (ints{0, 1, 1, 2, 3, 4, 4, 5}));
    EXPECT(m.as_strided({2, 2}, {4, 4}).to_vector<int>() == (ints{0, 1, 1, 2}));
    EXPECT(fails(KILN_ERROR_SHAPE, "a stride for each extent", [&] { (void)m.as_strided({2}, {4, 4}); }));
}

static void views_and_elements()
{
    array m = kiln::arange(6, KILN_INT32).reshape({2, 3});
    using ints = std::vector<int>;
    EXPECT(m["1, ::-1"].to_vector<int>() == (ints{5, 4, 3}));
    EXPECT(m.slice(1, 1, 3).to_vector<int>() == (ints{1, 2, 4, 5}) && m.select(0, 1).ndim() == 1);
    EXPECT(m.transpose()["1"].to_vector<int>() == (ints{1, 4}) && m.transpose({0, 1}).shape()[1] == 3);
    EXPECT(m.expand_dims(0).squeeze().ndim() == 2 && m["0"].broadcast_to({2, 3}).size() == 6);
    EXPECT(m.astype(KILN_FLOAT32).to_vector<float>()[5] == 5 && m.transpose().contiguous().is_c_contiguous());
    EXPECT(m.to(kiln::device::host()).get() == m.get());
    using places = std::vector<int64_t>;
    EXPECT(m[m > 2].to_vector<int>() == (ints{3, 4, 5}) && m.transpose()[(m > 2).transpose()].size() == 3);
    EXPECT(m[m > 9].shape() == kiln::extents({0}) &&
           kiln::flatnonzero(m).to_vector<int64_t>() == (places{1, 2, 3, 4, 5}));
    EXPECT(kiln::extract(m["0"] != 1, m).to_vector<int>() == (ints{0, 2, 3, 5}));
    EXPECT(kiln::unstack(m, -1).size() == 3 && kiln::unstack(m)[1].ndim() == 1 &&
           kiln::split(m, 2).size() == 2 && kiln::array_split(m, 2, 1)[0].shape() == (kiln::extents{2, 2}) &&
           kiln::hsplit(m, 3)[2].size() == 2);
    EXPECT(kiln::full_like(m, 7).to_vector<int>() == (ints{7, 7, 7, 7, 7, 7}) &&
           kiln::gradients(m * 1.0).size() == 2 && kiln::repeat(m, m.ravel()).size() == 15 &&
           kiln::histogram_bin_edges(m, 5).to_vector<double>()[1] == 1 &&
           kiln::histogram_bin_edges(m, 4, 0, 8).to_vector<double>()[3] == 6);
    EXPECT(kiln::histogramdd({m.ravel(), m.ravel()}, {2, 3})[0].shape() == (kiln::extents{2, 3}) &&
           kiln::unravel_index(kiln::arange(6), {2, 3})[1].to_vector<int64_t>() ==
               (places{0, 1, 2, 0, 1, 2}));
    EXPECT(kiln::unique_values(m).size() == 6 && m.ravel().size() == 6 &&
           m.transpose().flatten().to_vector<int>()[1] == 3);
    const kiln::array two = kiln::arange(6).reshape({2, 3});
    EXPECT(kiln::applied("add.reduce").with(kiln::call_options().over(1))(two).to_vector<int64_t>() ==
           (places{3, 12}));
    EXPECT(kiln::einsum("ij->i", {two}).to_vector<int64_t>() == (places{3, 12}));
    EXPECT(kiln::nonzero(m).size() == 2 &&
           kiln::nonzero(m)[1].to_vector<int64_t>() == (places{1, 2, 0, 1, 2}));
    EXPECT(kiln::bincount(m, 7).to_vector<int64_t>() == (places{1, 1, 1, 1, 1, 1, 0}));
    EXPECT(kiln::bincount(m, m).to_vector<double>() == (std::vector<double>{0, 1, 2, 3, 4, 5}));
    EXPECT(kiln::histogram(m, 2)[0].to_vector<int64_t>() == (places{3, 3}) &&
           kiln::histogram(m, 2, 0, 8)[1].to_vector<double>() == (std::vector<double>{0, 4, 8}));
    kiln::random_source numbers = kiln::random_source::create(7);
    array drawn = kiln::zeros({2, 3}, KILN_INT64), again = kiln::zeros({2, 3}, KILN_INT64);
    numbers.fill_integers(drawn, 5, 8);
    EXPECT(numbers.key() == 7 && numbers.position() == 8 && kiln::min(drawn).to_vector<int64_t>()[0] >= 5);
    numbers.set_position(0);
    numbers.fill(again, "integers", 5, 8);
    EXPECT(drawn.to_vector<int64_t>() == again.to_vector<int64_t>());
    EXPECT(fails(KILN_ERROR_TYPE, "dtype int64", [&] { numbers.fill(drawn, "random"); }));
    EXPECT(fails(KILN_ERROR_SHAPE, "the mask has extent 3 along its axis 0", [&] { (void)m[m["0"] > 0]; }));
    EXPECT(
        fails(KILN_ERROR_INVALID, "index 0: 2 is out of range for axis 0 of extent 2", [&] { (void)m[m]; }));
    const array rows({1, 0, 1}), first = m["0"] > 0;
    EXPECT(m[rows].to_vector<int>() == (ints{3, 4, 5, 0, 1, 2, 3, 4, 5}));
    EXPECT(m.get({rows, kiln::slice(1)}).shape() == kiln::extents({3, 2}) &&
           m.get({kiln::rest(), -1}).to_vector<int>() == (ints{2, 5}));
    EXPECT(m.get({kiln::slice(), first, nullptr}).shape() == kiln::extents({2, 2, 1}));
    array changed = m.copy();
    changed.set({kiln::slice(), first}, 9);
    EXPECT(changed.to_vector<int>() == (ints{0, 9, 9, 3, 9, 9}));
    changed.update({rows, 0}, "+", array({1, 2, 3}));
    EXPECT(changed.to_vector<int>() == (ints{2, 9, 9, 6, 9, 9}));
    array copied = m.copy();
    m["0"].assign(7);
    m["1"] += 10;
    m["1, 0"].assign(kiln::full({}, 0.75));
    EXPECT(m.to_vector<int>() == (ints{7, 7, 7, 0, 14, 15}) && copied.to_vector<int>()[0] == 0);
    copied *= 2;
    copied -= m;
    EXPECT(copied["0"].to_vector<int>() == (ints{-7, -5, -3}));
    copied %= 4;
    EXPECT(copied["0"].to_vector<int>() == (ints{1, 3, 1}));
    (((copied &= 3) |= 8) ^= 1) <<= 1;
    copied >>= 1;
    EXPECT(copied["0"].to_vector<int>() == (ints{8, 10, 8}));
    array f = kiln::ones({2}, KILN_FLOAT32);
    f /= 4;
    EXPECT(f.to_vector<float>() == (floats{0.25f, 0.25f}));
    std::ostringstream text;
    text << m["0"];
    EXPECT(text.str() == "[7 7 7]");
    EXPECT(fails(KILN_ERROR_SHAPE, "transpose: as many axes", [&] { (void)m.transpose({0}); }));
    EXPECT(fails(KILN_ERROR_INVALID, "add: there is no array to write into", [] { array() += 1; }));
    EXPECT(fails(KILN_ERROR_SYNTAX, "", [&] { (void)m["nonsense"]; }));
    EXPECT(fails(KILN_ERROR_SHAPE, "", [&] { (void)m.item(); }));
    EXPECT(fails(KILN_ERROR_INVALID, "", [] { (void)array().str(); }));
    EXPECT(fails(KILN_ERROR_INVALID, "", [] { array().print(); }));
}

static void indices()
{
    const array m = kiln::arange(6, KILN_INT32).reshape({2, 3});
    using ints = std::vector<int>;
    const std::size_t last = 2;
    EXPECT(m[0].to_vector<int>() == (ints{0, 1, 2}) && m[-1].to_vector<int>() == (ints{3, 4, 5}));
    EXPECT(m[1][last].item() == 5 && m[{1, -1}].item() == 5 && m[{0}].size() == 3 && m[{}].ndim() == 2);
    EXPECT(m[1u].ndim() == 1 && m[1ll].ndim() == 1 && m['\1'].ndim() == 1 &&
           m[std::string("1, :2")].size() == 2);
#if defined(__cpp_multidimensional_subscript)
    EXPECT(m[1, -2].item() == 4);
#endif
    m[0].assign(9);
    EXPECT(m[{0, 1}].item() == 9);
    EXPECT(fails(KILN_ERROR_SHAPE, "index 2 is out of range", [&] { (void)m[2]; }));
    EXPECT(fails(KILN_ERROR_SHAPE, "index -3 is out of range", [&] { (void)m[-3]; }));
    EXPECT(fails(KILN_ERROR_SHAPE, "out of range", [&] { (void)m[UINT64_MAX]; }));
    EXPECT(fails(KILN_ERROR_SHAPE, "index 3 is out of range", [&] { (void)m[{0, 3}]; }));
    EXPECT(fails(KILN_ERROR_SHAPE, "axis", [&] { (void)m[{0, 0, 0}]; }));
    EXPECT(fails(KILN_ERROR_INVALID, "", [] { (void)array()[0]; }));
}

// The truth of an array is that of its only element.
static void truths()
{
    const array x({1.f, 2.f}), y({1.f, 3.f}), none = kiln::zeros({0}, KILN_FLOAT32);
    int taken = 0;
    if (kiln::all(x == y))
        taken |= 1;
    if (kiln::any(x == y))
        taken |= 2;
    if (!(x[0] == y[0]) || x[1] == y[1])
        taken |= 4;
    if (x[0] == 1 && x[1] != 1)
        taken |= 8;
    EXPECT(taken == (2 | 8));
    EXPECT(!array({0.f}) && !array({-0.f}) && array({0.25f}) && array({NAN}) && array({INT64_MIN}));
    EXPECT(kiln::ones({1, 1, 1}, KILN_UINT8) && !kiln::zeros({}, KILN_BOOL));
    EXPECT(array({std::complex<float>(0, 1)}) && !array({std::complex<double>(0, 0)}));
    EXPECT(kiln::ones({1}, KILN_FLOAT16) && !kiln::zeros({1}, KILN_BFLOAT16) && array({5e-324}));
    EXPECT(fails(KILN_ERROR_SHAPE, "2 elements is ambiguous", [&] { taken = x == y ? 1 : 0; }));
    EXPECT(fails(KILN_ERROR_SHAPE, "0 elements is ambiguous", [&] { taken = !none; }));
    EXPECT(fails(KILN_ERROR_INVALID, "", [&] { taken = array() ? 1 : 0; }));
    kiln::trace t("t");
    const array traced = t.input("x", KILN_FLOAT32, {1});
    EXPECT(fails(KILN_ERROR_INVALID, "trace", [&] { taken = traced ? 1 : 0; }));
    static_assert(!std::is_convertible<array, bool>::value && !std::is_convertible<array, int>::value,
                  "an array is a number nowhere but in conditions");
}

static kiln::extents two_of(int64_t a, int64_t b)
{
    return {a, b};
}

static void extents()
{
    const kiln::extents list = {2, 3}, back = two_of(4, 5), copied = back;
    wholes own{7, 8};
    const kiln::extents from(own);
    own.assign(64, 1);
    const auto shape = kiln::zeros({6, 7}, KILN_INT8).shape(); // of an array that is gone
    volatile char stack[512];
    for (volatile char &c : stack)
        c = 1;
    EXPECT(list.to_vector() == (wholes{2, 3}) && back.to_vector() == (wholes{4, 5}) && copied == back);
    EXPECT(from.to_vector() == (wholes{7, 8}) && shape[0] == 6 && shape[-1] == 7 && list != back);
    EXPECT(kiln::zeros(back, KILN_INT8).shape() == back && kiln::extents() == kiln::extents({}));
    EXPECT(kiln::extents(own).ndim() == 64 && list != kiln::extents{2});
    own.push_back(1);
    EXPECT(fails(KILN_ERROR_SHAPE, "extents: more", [&] { kiln::extents many(own); }));
    EXPECT(fails(KILN_ERROR_SHAPE, "extents: axis 2 was asked for, and there are 2", [&] { (void)list[2]; }));
    EXPECT(fails(KILN_ERROR_SHAPE, "extents: axis -3", [&] { (void)list[-3]; }));
}

static void references()
{
    array x({1.f, 2.f}), y = x, z = std::move(x);
    EXPECT(!x.get() && y.get() == z.get() && y.get());
    z.assign(3);
    EXPECT(y.to_vector<float>() == (floats{3, 3})); // one array
    array shared = array::share(y.get());
    y = array();
    z = array();
    EXPECT(shared.to_vector<float>() == (floats{3, 3}));
    kiln_array *given = shared.release();
    EXPECT(!shared.get());
    array taken(given);
    array &itself = taken;
    taken = itself;
    EXPECT(taken.size() == 2);
    kiln::check(kiln_array_copy(taken.out(), array({5.f}).get()));
    EXPECT(taken.item() == 5);

    kiln::kernel twice("T x", "T y", "y = x + x"), same = twice, moved = std::move(twice);
    EXPECT(!twice && same.get() == moved.get());
    kiln::kernel other = kiln::kernel::share(same.get());
    same = kiln::kernel();
    moved = kiln::kernel();
    EXPECT(other(21).item() == 42);
    kiln_kernel *raw = other.release();
    EXPECT(!other);
    EXPECT(kiln::call(raw, 2).item() == 4);
    kiln::kernel back(raw);
    kiln::check(kiln_expression_create(back.out(), "x", "x * 3", nullptr));
    EXPECT(back(array({1, 2})).to_vector<int>() == (std::vector<int>{3, 6}));
    EXPECT(fails(KILN_ERROR_INVALID, "", [] { (void)kiln::kernel()(1); }));
}

struct pair {
    float a, b;
};

static void kernels()
{
    const array x({1.f, 2.f, 3.f});
    const kiln::kernel squared("T x, T y", "T z", std::string("z = (x - y) * (x - y)"), "squared");
    EXPECT(squared.name() == "squared");
    auto z = squared(x, 0.5);
    EXPECT(z.dtype() == KILN_FLOAT32 && z.to_vector<float>() == (floats{0.25f, 2.25f, 6.25f}));
    const kiln::kernel bounds("T x, T by", "T low, T high", "low = x - by; high = x + by");
    const auto [low, high] = bounds.call<2>(x, 1);
    EXPECT(low.to_vector<float>() == (floats{0, 1, 2}) && high.to_vector<float>() == (floats{2, 3, 4}));
    array a, b;
    std::tie(a, b) = bounds.call<2>(x, 2);
    EXPECT(b.to_vector<float>() == (floats{3, 4, 5}));
    bounds.into({a, b}, x, 5);
    EXPECT(a.to_vector<float>() == (floats{-4, -3, -2}) && b.to_vector<float>() == (floats{6, 7, 8}));
    bounds.with(kiln::call_options()).into({a, b}, x, 6);
    EXPECT(b.to_vector<float>() == (floats{7, 8, 9}));
    squared.into({z}, x, 3);
    EXPECT(z.to_vector<float>() == (floats{4, 1, 0}));
    EXPECT(fails(KILN_ERROR_INVALID, "output 1 has no array", [&] { bounds.into({a, array()}, x, 0); }));
    EXPECT(fails(KILN_ERROR_INVALID, "output", [&] { bounds.into({}, x, 0); }));
    bounds.into(std::tie(a, b), x, 0);
    squared.into(z, x, 1);
    EXPECT(b.to_vector<float>() == (floats{1, 2, 3}) && z.to_vector<float>() == (floats{0, 1, 4}));
    squared.into(z["1:"], x["1:"], 2);
    EXPECT(z.to_vector<float>() == (floats{0, 0, 1}));
    const kiln::kernel norm =
        kiln::kernel::reduction("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm");
    const array m = array({3.f, 4.f, 6.f, 8.f}).reshape({2, 2});
    EXPECT(norm.over(-1)(m).to_vector<float>() == (floats{5, 10}) && norm.over({0, 1}, true)(m).ndim() == 2);
    EXPECT(norm(array({3.f, 4.f})).item() == 5);
    const kiln::kernel centre = kiln::kernel::expression("x", "x - mean(x), mean(x)");
    EXPECT(std::get<1>(centre.call<2>(x)).item() == 2);
    // where every array is raw
    const kiln::kernel transposed("raw T x", "T y", "y = x[n - 1 - i]");
    EXPECT(transposed.with(kiln::call_options().size(3))(x).to_vector<float>() == (floats{3, 2, 1}));
    EXPECT(transposed.with(kiln::call_options().shape({3, 1}))(x).ndim() == 2);
    EXPECT(kiln::kernel("raw T x", "T y", "y = x[0]").with(kiln::call_options().shape({}))(x).item() == 1);
    EXPECT(fails(KILN_ERROR_INVALID, "every array is raw", [&] { (void)transposed(x); }));
    const auto ordered = kiln::call_options().order(KILN_ORDER_KEEP).block(128).flags(KILN_CALL_BEST);
    EXPECT(squared.with(ordered)(m.transpose(), 0).strides().to_vector() == (wholes{4, 8}));
    array t = kiln::empty({3}, KILN_FLOAT32);
    squared.with(ordered).into(t, x, 0);
    EXPECT(std::get<0>(bounds.with(ordered).call<2>(x, 1)).to_vector<float>()[0] == 0 &&
           t.to_vector<float>()[2] == 9);
    // structs, complex and typed numbers
    kiln::kernel_options options;
    options.preamble = "struct pair { float a, b; };";
    const pair p = {2, 1};
    EXPECT(kiln::kernel("T x, pair p", "T y", "y = p.a * x + p.b", "line", options)(x, kiln::by_value(p))
               .to_vector<float>() == (floats{3, 5, 7}));
    EXPECT((x * std::complex<double>(0, 1)).dtype() == KILN_COMPLEX64 &&
           (x + kiln_arg_float64(1)).dtype() == KILN_FLOAT64);
    const kiln_benchmark times = bounds.benchmark(x, 1);
    EXPECT(times.calls >= 10 && times.cpu_min_us > 0 && times.bytes_read == 12 && times.bytes_written == 24);
    EXPECT(fails(KILN_ERROR_INVALID, "kernel is NULL", [] { (void)kiln::kernel().benchmark(); }));
    // by texts
    EXPECT(kiln::map("T x", "T y", "y = -x", x).to_vector<float>() == (floats{-1, -2, -3}));
    EXPECT(kiln::map(kiln::call_options().size(2), "raw T x", "T y", "y = x[i]", x).size() == 2);
    const auto [s, c] = kiln::map<2>(kiln::call_options(), "T x", "T s, T c", "s = x; c = 2 * x", x);
    EXPECT(s.size() == 3 && c.to_vector<float>()[2] == 6);
    EXPECT(fails(KILN_ERROR_INVALID, "output 1 has no array",
                 [&] { bounds.into(std::make_tuple(a, array()), x, 0); }));
    EXPECT(fails(KILN_ERROR_INVALID, "output", [&] { (void)bounds(x, 0); }));
    EXPECT(fails(KILN_ERROR_SYNTAX, "", [] { kiln::kernel k("T x", "T y", "y = ("); }));
    EXPECT(fails(KILN_ERROR_SYNTAX, "", [] { (void)kiln::kernel::expression("x", "x +"); }));
    EXPECT(fails(KILN_ERROR_INVALID, "NULL",
                 [] { (void)kiln::kernel::reduction("T x", "T y", nullptr, "a + b", "y = a", nullptr); }));
    EXPECT(fails(KILN_ERROR_SHAPE, "axes: more", [] {
        kiln::axes many({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1,
                         2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3,
                         4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4});
    }));
    try {
        (void)kiln::map("T x", "T y", "y = nonsense(x)", x);
        EXPECT(false);
    } catch (const kiln::error &e) {
        const kiln::error copied = e;
        EXPECT(copied.status() == KILN_ERROR_COMPILE && std::strstr(copied.what(), "nonsense") &&
               std::strlen(copied.log()) > 0);
    }
}

static void devices_and_streams()
{
    const kiln::device host("host");
    EXPECT(host == KILN_DEVICE_HOST && host.name() == "host" && !host.is_cuda() &&
           kiln::device::count() >= 0);
    EXPECT(kiln::device::cuda(1) == KILN_DEVICE_CUDA(1));
    const kiln::device before = kiln::device::current();
    host.make_current();
    EXPECT(kiln::device::current() == host && kiln::zeros({1}, KILN_INT8).get_device() == host);
    host.synchronize();
    EXPECT(fails(KILN_ERROR_INVALID, "", [] { kiln::device nowhere("nowhere"); }));
    kiln::stream queue = kiln::stream::create(host), other;
    {
        kiln::stream_scope on(queue);
        EXPECT(kiln_stream_current() == queue.get());
        EXPECT(kiln::map("T x", "T y", "y = x", 1).item() == 1);
    }
    EXPECT(kiln_stream_current() == nullptr);
    const kiln::event begin = kiln::event::create(host), end = kiln::event::create(host);
    begin.record(queue);
    end.record(queue);
    queue.wait(end);
    end.synchronize();
    queue.synchronize();
    EXPECT(queue.is_done() && end.is_done() && end.since(begin) >= 0 && queue.cuda_handle() == nullptr);
    other = std::move(queue);
    EXPECT(!queue && other);
    kiln_stream *given = other.release();
    kiln::stream taken(given);
    taken.reset();
    EXPECT(!taken);
    EXPECT(fails(KILN_ERROR_UNSUPPORTED, "wrapped", [&] { (void)kiln::stream::wrap(&given, host); }));
    before.make_current();
}

static void traces()
{
    kiln::trace t("centred");
    const array x = t.input("x", KILN_FLOAT32, {2, 3});
    const kiln::kernel centred = t.end({x - kiln::mean(x, -1, true), kiln::mean(x)});
    const array m = kiln::arange(0, 6, 1, KILN_FLOAT32).reshape({2, 3});
    const auto [apart, mean] = centred.call<2>(m);
    EXPECT(apart.to_vector<float>() == (floats{-1, 0, 1, -1, 0, 1}) && mean.item() == 2.5);
    EXPECT(fails(KILN_ERROR_INVALID, "ended", [&] { (void)t.end({x}); }));
    EXPECT(fails(KILN_ERROR_INVALID, "ended", [&] { (void)t.input("y", KILN_FLOAT32, {1}); }));
    EXPECT(fails(KILN_ERROR_INVALID, "identifier", [] { kiln::trace wrong("not a name"); }));
}

static void files()
{
    char folder[] = "/tmp/kiln_values_XXXXXX";
    if (!mkdtemp(folder)) {
        faults++;
        return;
    }
    const std::string path = std::string(folder) + "/x.npy", picture = std::string(folder) + "/x.pgm";
    const array x = kiln::arange(6, KILN_UINT8).reshape({2, 3});
    x.save(path);
    x.save(picture);
    EXPECT(kiln::load(path).str() == x.str() && kiln::load(picture, kiln::device::host()).shape()[1] == 3);
    EXPECT(fails(KILN_ERROR_INVALID, "'.jpg' is no suffix", [&] { x.save("x.jpg"); }));
    EXPECT(fails(KILN_ERROR_NOT_FOUND, "nothing.npy", [] { (void)kiln::load("/nonexistent/nothing.npy"); }));
    std::remove(path.c_str());
    std::remove(picture.c_str());
    std::remove(folder);
}

// Const members of one object, and of arrays that share one, in several threads.
static void threads()
{
    const kiln::kernel twice("T x", "T y", "y = x + x");
    const array x = kiln::arange(1000, KILN_INT64);
    std::vector<std::thread> running;
    std::vector<double> sums(4);
    for (std::size_t t = 0; t < sums.size(); t++)
        running.emplace_back([&, t] {
            for (int k = 0; k < 50; k++) {
                const array own = x, y = twice(own["::2"]);
                sums[t] = kiln::sum(y).item();
            }
        });
    for (std::thread &thread : running)
        thread.join();
    EXPECT(sums == std::vector<double>(4, 499000));
}

int main()
{
    try {
        made_and_fetched();
        lists_and_words();
        views_and_elements();
        sorts();
        indices();
        truths();
        extents();
        references();
        kernels();
        devices_and_streams();
        traces();
        files();
        threads();
    } catch (const kiln::error &e) {
        std::fprintf(stderr, "%s: %s\n%s\n", kiln_status_name(e.status()), e.what(), e.log());
        return 1;
    }
    std::printf("%s: values of C++ %ld\n", faults ? "wrong" : "right", static_cast<long>(__cplusplus));
    return faults != 0;
}
