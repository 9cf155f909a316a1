/*
 * kiln/kiln.hpp - arrays, kernels, streams and traces as values of C++17; errors as exceptions.
 *
 *     #include <kiln/kiln.hpp>
 *
 *     const kiln::kernel squared("T x, T y", "T z", "z = (x - y) * (x - y)");
 *     const kiln::array x = kiln::linspace(0, 10, 11, KILN_FLOAT32);
 *     const kiln::array z = squared(x, 5);                        // broadcasts as NumPy does
 *     const kiln::kernel bounds("T x", "T lo, T hi", "lo = x - 1; hi = x + 1");
 *     const auto [lo, hi] = bounds.call<2>(z);                    // several results
 *     const kiln::array e = kiln::exp(lo - kiln::max(lo, -1, true));    // kiln/ops.hpp
 *     std::cout << e / kiln::sum(e) << '\n';
 *     if (kiln::all(lo < hi) && hi[-1] > 10)                      // of one element each
 *         std::cout << hi["1:4"] << '\n';
 *     const std::vector<float> back = hi.to_vector<float>();
 *
 * All of it is inline and calls the functions of C: what those say of meaning, dtypes, shapes and
 * errors holds here. Graphs, modules, bundles and the cache have no classes; their functions take
 * what get() gives. Each class holds one handle. get() gives it, for functions of C, and keeps it;
 * release() gives it away; a constructor from a handle takes it over, and share() takes one
 * reference more. An object that was moved from, or made without arguments, has none (get() is
 * NULL), which calls refuse.
 *
 * Copies of an array or a kernel refer to the same one, as in Python: elements that are written
 * through one of them are seen through all, and through every view. array::copy() is a new one.
 * Streams, events and traces can be moved alone. What goes away gives its handle back; work that is
 * queued still runs.
 *
 * A call that fails throws kiln::error. Functions that give a status back are wrapped by
 * kiln::check. Destructors and moves throw nothing.
 *
 * Threads: const members of one object may be called by several threads at once, and any members of
 * different objects, though these share an array. The elements are not guarded. A trace, and its
 * arrays, belong to one thread at a time. An object that one thread assigns to, or moves from, is
 * no other's meanwhile.
 */
#ifndef KILN_KILN_HPP
#define KILN_KILN_HPP

#include <kiln/kiln.h>
#include <kiln/ops.h>

#if !defined(__cplusplus) || __cplusplus < 201703L
#error "kiln/kiln.hpp needs C++17; kiln/kiln.h is for C and for earlier C++"
#endif

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>
#if defined(__has_include)
#if __has_include(<span>)
#include <span>
#endif
#endif

/** Arrays, kernels, streams and traces as values. */
namespace kiln {

/* ---- errors ---- */

/** The exception of a failed call; what() is its message. */
class error : public std::runtime_error {
  public:
    /** A status, its message, and the compiler's output, if any. */
    error(kiln_status status, const std::string &message, const std::string &log = std::string())
        : std::runtime_error(message), status_(status), log_(log)
    {
    }
    /** KILN_ERROR_SHAPE and its like. */
    kiln_status status() const noexcept
    {
        return status_;
    }
    /** The compiler's whole output, or "". */
    const char *log() const noexcept
    {
        return log_.what();
    }

  private:
    kiln_status status_;
    std::runtime_error log_; /** a text whose copies throw nothing */
};

/** Throws where a function of C has failed, just now and in this thread. */
inline void check(kiln_status status)
{
    if (status != KILN_OK)
        throw error(status, kiln_error_message(), kiln_error_log());
}

/* ---- small parameters ---- */

/** Shared by the classes; not part of the interface. */
namespace priv {
/** An index of any type of integers; one that int64_t does not hold is beyond every end. */
template <class Index> constexpr int64_t whole(Index index) noexcept
{
    static_assert(std::is_integral<Index>::value, "an index is a whole number");
    if constexpr (std::is_unsigned<Index>::value && sizeof(Index) == sizeof(int64_t))
        return index > static_cast<Index>(INT64_MAX) ? INT64_MAX : static_cast<int64_t>(index);
    else
        return static_cast<int64_t>(index);
}
} // namespace priv

/** A text, for the call alone: "...", or a std::string. */
class text {
  public:
    /** nullptr: none */
    text(const char *given) noexcept : given_(given)
    {
    }
    /** From a string, which has to live as long. */
    text(const std::string &given) noexcept : given_(given.c_str())
    {
    }
    /** As functions of C take it. */
    const char *get() const noexcept
    {
        return given_;
    }

  private:
    const char *given_;
};

/** Extents, outermost first: {600, 800}, those of a std::vector of int64_t, those of an array. It
 * holds a copy of its own: at most KILN_MAX_NDIM. */
class extents {
  public:
    /** None: of an array without axes. */
    extents() noexcept : count_(0), extent_()
    {
    }
    /** From a list. */
    extents(std::initializer_list<int64_t> list) : extents(list.begin(), list.size())
    {
    }
    /** From a vector. */
    extents(const std::vector<int64_t> &list) : extents(list.data(), list.size())
    {
    }
    /** As functions of C have them. */
    extents(const int64_t *data, int count) : extents(data, static_cast<std::size_t>(count))
    {
    }
    /** The first of them; it lives as long as this object. */
    const int64_t *data() const noexcept
    {
        return extent_;
    }
    /** The number of axes. */
    int ndim() const noexcept
    {
        return count_;
    }
    /** The number of axes, as containers name it. */
    std::size_t size() const noexcept
    {
        return static_cast<std::size_t>(count_);
    }
    /** For loops. */
    const int64_t *begin() const noexcept
    {
        return extent_;
    }
    /** For loops. */
    const int64_t *end() const noexcept
    {
        return extent_ + count_;
    }
    /** The extent of an axis; negative ones count from the last on. KILN_ERROR_SHAPE: there is
     * none. */
    int64_t operator[](int axis) const
    {
        if (axis < -count_ || axis >= count_)
            throw error(KILN_ERROR_SHAPE, "extents: axis " + std::to_string(axis) +
                                              " was asked for, and there are " +
                                              std::to_string(count_));
        return extent_[axis < 0 ? axis + count_ : axis];
    }
    /** True if both have the same extents. */
    friend bool operator==(const extents &a, const extents &b) noexcept
    {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }
    /** True if the extents differ. */
    friend bool operator!=(const extents &a, const extents &b) noexcept
    {
        return !(a == b);
    }
    /** A copy. */
    std::vector<int64_t> to_vector() const
    {
        return std::vector<int64_t>(begin(), end());
    }

  private:
    extents(const int64_t *data, std::size_t count) : extents()
    {
        if (count > KILN_MAX_NDIM)
            throw error(KILN_ERROR_SHAPE, "extents: more were given than an array may have axes");
        count_ = static_cast<int>(count);
        std::copy_n(data, count, extent_);
    }

    int count_;
    int64_t extent_[KILN_MAX_NDIM];
};

/** The dtype of a type of C++. Specialise it for types of 16 bits: they are those of libraries. */
template <class T> struct dtype_of {
    static_assert(sizeof(T) == 0, "kiln::dtype_of: this type is no dtype's");
};
template <> struct dtype_of<bool> : std::integral_constant<kiln_dtype, KILN_BOOL> {
};
template <> struct dtype_of<signed char> : std::integral_constant<kiln_dtype, KILN_INT8> {
};
template <> struct dtype_of<short> : std::integral_constant<kiln_dtype, KILN_INT16> {
};
template <> struct dtype_of<int> : std::integral_constant<kiln_dtype, KILN_INT32> {
};
template <> struct dtype_of<long> : std::integral_constant<kiln_dtype, KILN_INT64> {
};
template <> struct dtype_of<long long> : std::integral_constant<kiln_dtype, KILN_INT64> {
};
template <> struct dtype_of<unsigned char> : std::integral_constant<kiln_dtype, KILN_UINT8> {
};
template <> struct dtype_of<unsigned short> : std::integral_constant<kiln_dtype, KILN_UINT16> {
};
template <> struct dtype_of<unsigned> : std::integral_constant<kiln_dtype, KILN_UINT32> {
};
template <> struct dtype_of<unsigned long> : std::integral_constant<kiln_dtype, KILN_UINT64> {
};
template <> struct dtype_of<unsigned long long> : std::integral_constant<kiln_dtype, KILN_UINT64> {
};
template <> struct dtype_of<float> : std::integral_constant<kiln_dtype, KILN_FLOAT32> {
};
template <> struct dtype_of<double> : std::integral_constant<kiln_dtype, KILN_FLOAT64> {
};
template <>
struct dtype_of<std::complex<float>> : std::integral_constant<kiln_dtype, KILN_COMPLEX64> {
};
template <>
struct dtype_of<std::complex<double>> : std::integral_constant<kiln_dtype, KILN_COMPLEX128> {
};

/* ---- devices, streams, events ---- */

/** A device by its number; goes where a kiln_device is wanted, and back. */
class device {
  public:
    /** By its number; the thread's current device. */
    device(kiln_device id = KILN_DEVICE_DEFAULT) noexcept : id_(id)
    {
    }
    /** "host", "cuda", "cuda:1" */
    explicit device(const char *name) : id_(KILN_DEVICE_DEFAULT)
    {
        check(kiln_device_parse(&id_, name));
    }
    /** The processor. */
    static device host() noexcept
    {
        return device(KILN_DEVICE_HOST);
    }
    /** A CUDA device. */
    static device cuda(int ordinal = 0) noexcept
    {
        return device(KILN_DEVICE_CUDA(ordinal));
    }
    /** The number of CUDA devices. */
    static int count()
    {
        int found = 0;
        check(kiln_device_count(&found));
        return found;
    }
    /** The calling thread's. */
    static device current()
    {
        device found;
        check(kiln_device_current(&found.id_));
        return found;
    }
    /** For the calling thread. */
    void make_current() const
    {
        check(kiln_device_set_current(id_));
    }
    /** Waits for all of its work. */
    void synchronize() const
    {
        check(kiln_device_synchronize(id_));
    }
    /** True for a CUDA device. */
    bool is_cuda() const
    {
        return KILN_DEVICE_IS_CUDA(id_ ? id_ : current().id_);
    }
    /** "host", "cuda:1" */
    std::string name() const
    {
        char buffer[16];
        return kiln_device_name(id_, buffer, sizeof buffer);
    }
    /** Its number. */
    operator kiln_device() const noexcept
    {
        return id_;
    }

  private:
    kiln_device id_;
};

/** The owner of a handle that cannot be shared. */
template <class Handle, void (*Free)(Handle *)> class unique {
  public:
    /** Without a handle. */
    unique() noexcept : handle_(nullptr)
    {
    }
    /** Takes a handle over: for what a function of C has given. */
    explicit unique(Handle *taken) noexcept : handle_(taken)
    {
    }
    /** Takes the other one's handle over. */
    unique(unique &&other) noexcept : handle_(other.release())
    {
    }
    /** The same; what was here before is given back. */
    unique &operator=(unique &&other) noexcept
    {
        if (this != &other)
            reset(other.release());
        return *this;
    }
    unique(const unique &) = delete;
    unique &operator=(const unique &) = delete;
    ~unique()
    {
        Free(handle_);
    }
    /** The handle stays this one's; NULL where it has none. */
    Handle *get() const noexcept
    {
        return handle_;
    }
    /** The handle is the caller's from now on. */
    [[nodiscard]] Handle *release() noexcept
    {
        return std::exchange(handle_, nullptr);
    }
    /** Gives the handle back, and takes another one over. */
    void reset(Handle *taken = nullptr) noexcept
    {
        Free(std::exchange(handle_, taken));
    }
    /** Where a function of C puts a handle; what was here before is given back. */
    Handle **out() noexcept
    {
        reset();
        return &handle_;
    }
    /** True if it has a handle. */
    explicit operator bool() const noexcept
    {
        return handle_ != nullptr;
    }

  private:
    Handle *handle_;
};

/** A queue of work. One without a handle stands for the default stream. */
class stream : public unique<kiln_stream, kiln_stream_free> {
  public:
    using unique::unique;
    /** A new one: kiln_stream_create. */
    static stream create(device on = device(), unsigned flags = KILN_STREAM_NON_BLOCKING)
    {
        stream made;
        check(kiln_stream_create(made.out(), on, flags));
        return made;
    }
    /** A CUstream, which stays its owner's. */
    static stream wrap(void *cuda_stream, device on = device())
    {
        stream made;
        check(kiln_stream_wrap(made.out(), on, cuda_stream));
        return made;
    }
    /** Waits for all work queued so far. */
    void synchronize() const
    {
        check(kiln_stream_synchronize(get()));
    }
    /** True if all work queued so far has finished. */
    [[nodiscard]] bool is_done() const
    {
        bool done = false;
        check(kiln_stream_query(&done, get()));
        return done;
    }
    /** Later work waits for the event. */
    void wait(const unique<kiln_event, kiln_event_free> &event) const
    {
        check(kiln_stream_wait_event(get(), event.get()));
    }
    /** The CUstream; nullptr for the default stream and on the host. */
    void *cuda_handle() const noexcept
    {
        return kiln_stream_cuda_handle(get());
    }
};

/** Makes a stream the thread's current one until it goes: stream_scope on(s); */
class stream_scope {
  public:
    /** From now on. */
    explicit stream_scope(const stream &current) noexcept
        : before_(kiln_stream_set_current(current.get()))
    {
    }
    stream_scope(const stream_scope &) = delete;
    stream_scope &operator=(const stream_scope &) = delete;
    /** The one before is current again. */
    ~stream_scope()
    {
        kiln_stream_set_current(before_);
    }

  private:
    kiln_stream *before_;
};

/** A place in a stream, and the time at which it was passed. */
class event : public unique<kiln_event, kiln_event_free> {
  public:
    using unique::unique;
    /** A new one: kiln_event_create. */
    static event create(device on = device(), unsigned flags = KILN_EVENT_TIMING)
    {
        event made;
        check(kiln_event_create(made.out(), on, flags));
        return made;
    }
    /** It stands for the work queued on the stream so far. */
    void record(const stream &on = stream()) const
    {
        check(kiln_event_record(get(), on.get()));
    }
    /** Waits for that work. */
    void synchronize() const
    {
        check(kiln_event_synchronize(get()));
    }
    /** True if that work has finished. */
    [[nodiscard]] bool is_done() const
    {
        bool done = false;
        check(kiln_event_query(&done, get()));
        return done;
    }
    /** Milliseconds from `start` to this one. */
    [[nodiscard]] double since(const event &start) const
    {
        double milliseconds = 0;
        check(kiln_event_elapsed(&milliseconds, start.get(), get()));
        return milliseconds;
    }
};

/* ---- arrays ---- */

/** Elements of one dtype; below. */
class array;
/** An argument of a call; below. */
class operand;

/** One item of an index: x.get({rows, kiln::slice(0, 8)}). */
class index {
  public:
    /** A number: the axis goes; from the end if it is negative. */
    template <class Index, class = std::enable_if_t<std::is_integral<Index>::value &&
                                                    !std::is_same<Index, bool>::value>>
    index(Index at) noexcept : item_(kiln_index_number(priv::whole(at)))
    {
    }
    /** None: an axis of one element. */
    index(std::nullptr_t) noexcept : item_(kiln_index_new_axis())
    {
    }
    /** An array of whole numbers, or a mask, which has to live until the call returns. */
    template <class Array, class = std::enable_if_t<std::is_same<Array, array>::value>,
              class = void>
    index(const Array &at) noexcept : item_(kiln_index_array(at.get()))
    {
    }
    /** As it is. */
    index(const kiln_index &item) noexcept : item_(item)
    {
    }
    /** As functions of C take it. */
    const kiln_index &item() const noexcept
    {
        return item_;
    }

  private:
    kiln_index item_;
};
/** start:stop:step; KILN_SLICE_NONE leaves a bound out. */
inline index slice(int64_t start = KILN_SLICE_NONE, int64_t stop = KILN_SLICE_NONE,
                   int64_t step = KILN_SLICE_NONE) noexcept
{
    return kiln_index_slice(start, stop, step);
}
/** "...": all axes that no other item takes. */
inline index rest() noexcept
{
    return kiln_index_rest();
}

/** A reference to an array: copies refer to the same one. */
class array {
  public:
    /** Without an array. */
    array() noexcept : array_(nullptr)
    {
    }
    /** Takes one reference over: for what a function of C has given. */
    explicit array(kiln_array *taken) noexcept : array_(taken)
    {
    }
    /** One reference more to an array that stays its owner's. */
    static array share(const kiln_array *other) noexcept
    {
        return array(kiln_array_retain(other));
    }
    /** Refers to the same array. */
    array(const array &other) noexcept : array_(kiln_array_retain(other.array_))
    {
    }
    /** Takes the other one's reference over. */
    array(array &&other) noexcept : array_(other.release())
    {
    }
    /** Refers to the other one from now on. Elements are assigned by assign(); for what an index
     * has picked out there is no =, which would forget it at once. */
    array &operator=(array other) &noexcept
    {
        std::swap(array_, other.array_);
        return *this;
    }
    ~array()
    {
        kiln_array_free(array_);
    }

    /** Copies of elements in host memory, in C order: of a list, array({1.f, 2.f}), of a
     * std::vector, with or without a shape, and of what lies at an address. */
    template <class T>
    explicit array(std::initializer_list<T> elements, device on = device()) : array_(nullptr)
    {
        const int64_t count = static_cast<int64_t>(elements.size());
        take(elements.begin(), extents(&count, 1), on);
    }
    /** From a vector: one axis. */
    template <class T, class Allocator>
    explicit array(const std::vector<T, Allocator> &elements, device on = device())
        : array_(nullptr)
    {
        const int64_t count = static_cast<int64_t>(elements.size());
        take_counted(elements, extents(&count, 1), on);
    }
    /** From a vector, with a shape. */
    template <class T, class Allocator>
    array(const std::vector<T, Allocator> &elements, const extents &shape, device on = device())
        : array_(nullptr)
    {
        take_counted(elements, shape, on);
    }
    /** From elements at an address, as many as the shape has. */
    template <class T, class = std::enable_if_t<dtype_of<T>::value != KILN_DTYPE_NONE>>
    array(const T *elements, const extents &shape, device on = device()) : array_(nullptr)
    {
        take(elements, shape, on);
    }
#if defined(__cpp_lib_span)
    /** From a span: one axis. */
    template <class T, std::size_t N>
    explicit array(std::span<T, N> elements, device on = device()) : array_(nullptr)
    {
        const int64_t count = static_cast<int64_t>(elements.size());
        take(elements.data(), extents(&count, 1), on);
    }
    /** From a span, with a shape. */
    template <class T, std::size_t N>
    array(std::span<T, N> elements, const extents &shape, device on = device()) : array_(nullptr)
    {
        check_count(elements.size(), shape);
        take(elements.data(), shape, on);
    }
#endif

    /** The array stays this one's; NULL where it has none. */
    kiln_array *get() const noexcept
    {
        return array_;
    }
    /** The reference is the caller's from now on. */
    [[nodiscard]] kiln_array *release() noexcept
    {
        return std::exchange(array_, nullptr);
    }
    /** Where a function of C puts an output; what was here before is given back. */
    kiln_array **out() noexcept
    {
        kiln_array_free(std::exchange(array_, nullptr));
        return &array_;
    }
    /** The truth of the only element, for if, while, !, && and assert: whether it is not 0.
     * KILN_ERROR_SHAPE where there are more of them, or none: kiln::all(x) and kiln::any(x) say
     * which is meant, get() whether there is an array at all. */
    explicit operator bool() const
    {
        if (array_ && size() != 1)
            throw error(KILN_ERROR_SHAPE, "the truth value of an array of " +
                                              std::to_string(size()) +
                                              " elements is ambiguous: kiln::all(x) or "
                                              "kiln::any(x) was expected");
        if (dtype() != KILN_COMPLEX64 && dtype() != KILN_COMPLEX128)
            return item() != 0;
        return astype(KILN_COMPLEX128).to_vector<std::complex<double>>()[0] != 0.0;
    }

    /* ---- description ---- */

    /** The type of its elements. */
    kiln_dtype dtype() const noexcept
    {
        return kiln_array_dtype(array_);
    }
    /** The number of axes. */
    int ndim() const noexcept
    {
        return kiln_array_ndim(array_);
    }
    /** The number of elements. */
    int64_t size() const noexcept
    {
        return kiln_array_size(array_);
    }
    /** Elements times their bytes. */
    std::size_t nbytes() const noexcept
    {
        return kiln_array_nbytes(array_);
    }
    /** Those of its axes. */
    extents shape() const
    {
        return extents(kiln_array_shape(array_), ndim());
    }
    /** Bytes from one index to the next, along each axis. */
    extents strides() const
    {
        return extents(kiln_array_strides(array_), ndim());
    }
    /** Where its elements are. */
    kiln::device get_device() const noexcept
    {
        return kiln::device(kiln_array_device(array_));
    }
    /** The address of the first element, on the device. */
    void *data() const noexcept
    {
        return kiln_array_data(array_);
    }
    /** True if the elements are contiguous, in C order. */
    bool is_c_contiguous() const noexcept
    {
        return kiln_array_is_c_contiguous(array_);
    }
    /** True if writing to it is refused. */
    bool is_read_only() const noexcept
    {
        return kiln_array_is_read_only(array_);
    }

    /* ---- views; x["1:, ::-2"] is an index as Python writes it ---- */

    /** An index as Python writes it: x["1:, ::-2"]. */
    [[nodiscard]] array operator[](const char *index) const
    {
        return made([&](kiln_array **a) { return kiln_array_index(a, array_, index); });
    }
    /** The same of a string. */
    [[nodiscard]] array operator[](const std::string &index) const
    {
        return (*this)[index.c_str()];
    }
    /** One index of the first axis, which goes away: x[0], x[-1], x[i][j]. KILN_ERROR_SHAPE: it is
     * beyond the end. */
    template <class Index, class = std::enable_if_t<std::is_integral<Index>::value &&
                                                    !std::is_same<Index, bool>::value>>
    [[nodiscard]] array operator[](Index index) const
    {
        return select(0, priv::whole(index));
    }
    /** One index for each of the first axes, which go away: x[{i, j}]. */
    [[nodiscard]] array operator[](std::initializer_list<int64_t> list) const
    {
        array found = *this;
        for (int64_t index : list)
            found = found.select(0, index);
        return found;
    }
#if defined(__cpp_multidimensional_subscript)
    /** The same where C++ has it: x[i, j]. */
    template <class... Index>
    [[nodiscard]] std::enable_if_t<(sizeof...(Index) > 1), array> operator[](Index... index) const
    {
        return (*this)[{priv::whole(index)...}];
    }
#endif
    /** x[mask] and x[indices]: the elements for which a mask of the first axes holds, or those at
     * indices of the first axis. Waits for the number of a mask's. The errors of kiln_array_get. */
    template <class Index, class = std::enable_if_t<std::is_same<Index, array>::value>,
              class = void>
    [[nodiscard]] array operator[](const Index &at) const
    {
        return get({at});
    }
    /** x[...] for every mixture of items (kiln_array_get): x.get({rows, kiln::slice(0, 8)}). */
    [[nodiscard]] array get(std::initializer_list<index> items) const
    {
        const std::vector<kiln_index> list = plain(items);
        return made([&](kiln_array **a) {
            return kiln_array_get(a, array_, list.data(), static_cast<int>(list.size()));
        });
    }
    /** x[...] = value (kiln_array_set). */
    template <class Value, class Operand = operand>
    void set(std::initializer_list<index> items, const Value &value)
    {
        const std::vector<kiln_index> list = plain(items);
        const Operand given(value);
        check(kiln_array_set(array_, list.data(), static_cast<int>(list.size()), given.arg()));
    }
    /** x[...] = x[...] OP value (kiln_array_update): x.update({rows}, "+", 1). */
    template <class Value, class Operand = operand>
    void update(std::initializer_list<index> items, const char *op, const Value &value)
    {
        const std::vector<kiln_index> list = plain(items);
        const Operand given(value);
        const int count = static_cast<int>(list.size());
        check(kiln_array_update(array_, list.data(), count, op, given.arg()));
    }
    /** start:stop:step of one axis, as Python clips them. */
    [[nodiscard]] array slice(int axis, int64_t start, int64_t stop, int64_t step = 1) const
    {
        return made(
            [&](kiln_array **a) { return kiln_array_slice(a, array_, axis, start, stop, step); });
    }
    /** One index of one axis, which goes away. */
    [[nodiscard]] array select(int axis, int64_t index) const
    {
        return made([&](kiln_array **a) { return kiln_array_select(a, array_, axis, index); });
    }
    /** The axes in reverse order. */
    [[nodiscard]] array transpose() const
    {
        return made([&](kiln_array **a) { return kiln_array_transpose(a, array_, nullptr); });
    }
    /** The axes in this order. */
    [[nodiscard]] array transpose(std::initializer_list<int> axes) const
    {
        if (static_cast<int>(axes.size()) != ndim())
            throw error(KILN_ERROR_SHAPE, "transpose: as many axes as the array has were expected");
        return made([&](kiln_array **a) { return kiln_array_transpose(a, array_, axes.begin()); });
    }
    /** Another shape; one extent may be -1. A view where the layout allows it, else a copy. */
    [[nodiscard]] array reshape(const extents &shape) const
    {
        return made([&](kiln_array **a) {
            return kiln_array_reshape(a, array_, shape.ndim(), shape.data());
        });
    }
    /** All elements along one axis: a view where the layout allows it, else a copy. */
    [[nodiscard]] array ravel() const
    {
        return reshape({-1});
    }
    /** The same, always a copy. */
    [[nodiscard]] array flatten() const
    {
        return copy().reshape({-1});
    }
    /** A larger shape, as NumPy broadcasts. */
    [[nodiscard]] array broadcast_to(const extents &shape) const
    {
        return made([&](kiln_array **a) {
            return kiln_array_broadcast_to(a, array_, shape.ndim(), shape.data());
        });
    }
    /** Any shape and strides, in bytes, within the array's memory. */
    [[nodiscard]] array as_strided(const extents &shape,
                                   const std::vector<std::int64_t> &strides) const
    {
        if (static_cast<int>(strides.size()) != shape.ndim())
            throw error(KILN_ERROR_SHAPE, "as_strided: a stride for each extent was expected");
        return made([&](kiln_array **a) {
            return kiln_array_as_strided(a, array_, shape.ndim(), shape.data(), strides.data());
        });
    }
    /** With one more axis, of extent 1. */
    [[nodiscard]] array expand_dims(int axis) const
    {
        return made([&](kiln_array **a) { return kiln_array_expand_dims(a, array_, axis); });
    }
    /** Without an axis of extent 1, or all of them. */
    [[nodiscard]] array squeeze(int axis = KILN_ALL_AXES) const
    {
        return made([&](kiln_array **a) { return kiln_array_squeeze(a, array_, axis); });
    }

    /* ---- copies ---- */

    /** A new array with the same elements, in C order. */
    [[nodiscard]] array copy() const
    {
        return made([&](kiln_array **a) { return kiln_array_copy(a, array_); });
    }
    /** A new one of another dtype. */
    [[nodiscard]] array astype(kiln_dtype dtype) const
    {
        return made([&](kiln_array **a) { return kiln_array_astype(a, array_, dtype); });
    }
    /** Itself, or a copy in C order. */
    [[nodiscard]] array contiguous() const
    {
        return made([&](kiln_array **a) { return kiln_array_contiguous(a, array_); });
    }
    /** Itself, or a copy on another device. */
    [[nodiscard]] array to(device on) const
    {
        return made([&](kiln_array **a) { return kiln_array_to_device(a, array_, on); });
    }

    /* ---- elements from and to host memory ---- */

    /** In C order. KILN_ERROR_TYPE where T is not the array's dtype: astype() makes it so. */
    template <class T> [[nodiscard]] std::vector<T> to_vector() const
    {
        check_type(dtype_of<T>::value, "to_vector");
        if constexpr (std::is_same<T, bool>::value) {
            std::vector<unsigned char> bytes(static_cast<std::size_t>(size()));
            check(kiln_array_to_host(array_, bytes.data(), bytes.size()));
            return std::vector<T>(bytes.begin(), bytes.end());
        } else {
            std::vector<T> elements(static_cast<std::size_t>(size()));
            check(kiln_array_to_host(array_, elements.data(), elements.size() * sizeof(T)));
            return elements;
        }
    }
    /** Into the caller's memory, count elements: as many as the array has. */
    template <class T> void to_host(T *elements, std::size_t count) const
    {
        check_type(dtype_of<T>::value, "to_host");
        check(kiln_array_to_host(array_, elements, count * sizeof(T)));
    }
    /** From there. */
    template <class T> void set_from_host(const T *elements, std::size_t count)
    {
        check_type(dtype_of<T>::value, "set_from_host");
        check(kiln_array_set_from_host(array_, elements, count * sizeof(T)));
    }
#if defined(__cpp_lib_span)
    /** Into a span. */
    template <class T, std::size_t N> void to_host(std::span<T, N> elements) const
    {
        to_host(elements.data(), elements.size());
    }
    /** From a span. */
    template <class T, std::size_t N> void set_from_host(std::span<T, N> elements)
    {
        set_from_host(static_cast<const T *>(elements.data()), elements.size());
    }
#endif
    /** The only element. */
    [[nodiscard]] double item() const
    {
        double value = 0;
        check(kiln_array_item(&value, array_));
        return value;
    }

    /** The elements of another array, broadcast and cast, or one number: x["1:3"].assign(0). */
    void assign(const array &from)
    {
        check(kiln_array_assign(array_, from.array_));
    }
    /** One number everywhere. */
    template <class T, class = std::enable_if_t<std::is_arithmetic<T>::value>> void assign(T value)
    {
        assign(array(&value, extents(), get_device()));
    }

    /* ---- files and text ---- */

    /** By the suffix: .npy, .pgm, .ppm, .pnm, .pfm. */
    void save(text path) const
    {
        check(kiln_array_save(array_, path.get()));
    }
    /** To standard output, as NumPy prints. */
    void print() const
    {
        check(kiln_array_print(array_));
    }
    /** The text that NumPy gives. */
    [[nodiscard]] std::string str() const
    {
        char *made_text = nullptr;
        check(kiln_array_to_string(&made_text, array_, nullptr));
        std::string copied;
        try {
            copied = made_text;
        } catch (...) {
            kiln_free(made_text);
            throw;
        }
        kiln_free(made_text);
        return copied;
    }

  private:
    static std::vector<kiln_index> plain(std::initializer_list<index> items)
    {
        std::vector<kiln_index> list;
        for (const index &each : items)
            list.push_back(each.item());
        return list;
    }
    template <class Make> static array made(const Make &make)
    {
        array result;
        check(make(&result.array_));
        return result;
    }
    template <class T> void take(const T *elements, const extents &shape, kiln::device on)
    {
        check(kiln_array_from_host(&array_, elements, dtype_of<std::remove_cv_t<T>>::value,
                                   shape.ndim(), shape.data(), on));
    }
    template <class T, class Allocator>
    void take_counted(const std::vector<T, Allocator> &elements, const extents &shape,
                      kiln::device on)
    {
        check_count(elements.size(), shape);
        if constexpr (std::is_same<T, bool>::value) {
            const std::vector<unsigned char> bytes(elements.begin(), elements.end());
            check(kiln_array_from_host(&array_, bytes.data(), KILN_BOOL, shape.ndim(), shape.data(),
                                       on));
        } else {
            take(elements.data(), shape, on);
        }
    }
    static void check_count(std::size_t count, const extents &shape)
    {
        uint64_t wanted = 1;
        for (int64_t extent : shape)
            wanted *= static_cast<uint64_t>(extent);
        if (wanted != count)
            throw error(KILN_ERROR_SHAPE, "array: " + std::to_string(count) +
                                              " elements were given for a shape of " +
                                              std::to_string(wanted));
    }
    void check_type(kiln_dtype asked, const char *function) const
    {
        if (array_ && asked != dtype())
            throw error(KILN_ERROR_TYPE,
                        std::string(function) + ": elements of " + kiln_dtype_name(asked) +
                            " were asked for, and the array has " + kiln_dtype_name(dtype()));
    }

    kiln_array *array_;
};

/** The text that numpy.array2string gives. */
inline std::ostream &operator<<(std::ostream &to, const array &x)
{
    return to << x.str();
}

/** Elements that are not set. */
[[nodiscard]] inline array empty(const extents &shape, kiln_dtype dtype, device on = device())
{
    array x;
    check(kiln_array_empty(x.out(), dtype, shape.ndim(), shape.data(), on));
    return x;
}
/** All 0. */
[[nodiscard]] inline array zeros(const extents &shape, kiln_dtype dtype, device on = device())
{
    array x;
    check(kiln_array_zeros(x.out(), dtype, shape.ndim(), shape.data(), on));
    return x;
}
/** All 1. */
[[nodiscard]] inline array ones(const extents &shape, kiln_dtype dtype, device on = device())
{
    array x;
    check(kiln_array_ones(x.out(), dtype, shape.ndim(), shape.data(), on));
    return x;
}
/** With the dtype of the value: full({2, 3}, 1.5f). */
template <class T> [[nodiscard]] array full(const extents &shape, T value, device on = device())
{
    array x;
    check(kiln_array_full(x.out(), dtype_of<T>::value, shape.ndim(), shape.data(), &value, on));
    return x;
}
/** With another array's dtype, shape and device; the elements are not set. */
[[nodiscard]] inline array empty_like(const array &other)
{
    array x;
    check(kiln_array_empty_like(x.out(), other.get()));
    return x;
}
/** The same, all 0. */
[[nodiscard]] inline array zeros_like(const array &other)
{
    array x;
    check(kiln_array_zeros_like(x.out(), other.get()));
    return x;
}
/** The same, all 1. */
[[nodiscard]] inline array ones_like(const array &other)
{
    array x;
    check(kiln_array_ones_like(x.out(), other.get()));
    return x;
}
/** The same, all of this value, in the other array's dtype. */
template <class T> [[nodiscard]] inline array full_like(const array &other, const T &value)
{
    array x;
    check(kiln_array_empty_like(x.out(), other.get()));
    x.assign(value);
    return x;
}
/** count numbers from start to stop, evenly spaced: kiln_array_linspace. */
[[nodiscard]] inline array linspace(double start, double stop, int64_t count,
                                    kiln_dtype dtype = KILN_FLOAT64, device on = device())
{
    array x;
    check(kiln_array_linspace(x.out(), start, stop, count, dtype, on));
    return x;
}
/** start, start + step, ... below stop: kiln_array_arange. */
[[nodiscard]] inline array arange(double start, double stop, double step,
                                  kiln_dtype dtype = KILN_FLOAT64, device on = device())
{
    array x;
    check(kiln_array_arange(x.out(), start, stop, step, dtype, on));
    return x;
}
/** 0, 1, ... below count */
[[nodiscard]] inline array arange(int64_t count, kiln_dtype dtype = KILN_INT64,
                                  device on = device())
{
    array x;
    check(kiln_array_arange_int(x.out(), 0, count, 1, dtype, on));
    return x;
}
/** A file of .npy, .pgm, .ppm or .pfm. */
[[nodiscard]] inline array load(text path, device on = device())
{
    array x;
    check(kiln_array_load(x.out(), path.get(), on));
    return x;
}
/** Memory that is not kiln's, without a copy: release() in the end is the caller's business. */
template <class T>
[[nodiscard]] array wrap(T *data, const extents &shape, device on = device::host())
{
    array x;
    kiln_array_spec spec = KILN_ARRAY_SPEC_INIT;
    spec.dtype = dtype_of<std::remove_cv_t<T>>::value;
    spec.ndim = shape.ndim();
    spec.shape = shape.data();
    spec.device = on;
    spec.read_only = std::is_const<T>::value;
    check(
        kiln_array_wrap(x.out(), const_cast<std::remove_cv_t<T> *>(data), &spec, nullptr, nullptr));
    return x;
}

/* ---- arguments ---- */

/** An argument of a call: an array, a number, or the result of a kiln_arg_* constructor. Numbers
 * are weak: they do not widen arrays. Holds no reference. */
class operand {
  public:
    /** An array, which has to live until the call returns. */
    operand(const array &value) : arg_(kiln_arg_array(value.get()))
    {
    }
    /** The same, of C. */
    operand(const kiln_array *value) : arg_(kiln_arg_array(value))
    {
    }
    /** As it is. */
    operand(const kiln_arg &value) : arg_(value)
    {
    }
    /** A weak number. */
    operand(bool value) : arg_(kiln_priv_arg_of(value))
    {
    }
    /** A weak number. */
    operand(int value) : arg_(kiln_priv_arg_of(value))
    {
    }
    /** A weak number. */
    operand(long value) : arg_(kiln_priv_arg_of(value))
    {
    }
    /** A weak number. */
    operand(long long value) : arg_(kiln_priv_arg_of(value))
    {
    }
    /** A weak number. */
    operand(unsigned value) : arg_(kiln_priv_arg_of(value))
    {
    }
    /** A weak number. */
    operand(unsigned long value) : arg_(kiln_priv_arg_of(value))
    {
    }
    /** A weak number. */
    operand(unsigned long long value) : arg_(kiln_priv_arg_of(value))
    {
    }
    /** A weak number. */
    operand(float value) : arg_(kiln_priv_arg_of(value))
    {
    }
    /** A weak number. */
    operand(double value) : arg_(kiln_priv_arg_of(value))
    {
    }
    /** A weak number. */
    operand(std::complex<float> value) : arg_(kiln_arg_complex(value.real(), value.imag()))
    {
    }
    /** A weak number. */
    operand(std::complex<double> value) : arg_(kiln_arg_complex(value.real(), value.imag()))
    {
    }
    template <class T> operand(T *) = delete; /* would be a bool */
    /** As functions of C take it. */
    const kiln_arg &arg() const noexcept
    {
        return arg_;
    }

  private:
    kiln_arg arg_;
};

/** A struct by value, that the kernel's preamble declares; it has to live until the call returns.
 * */
template <class T> kiln_arg by_value(const T &value) noexcept
{
    static_assert(std::is_trivially_copyable<T>::value, "kernels get the bytes of a struct alone");
    return kiln_arg_struct(&value, sizeof value);
}

/** The axes of a reduction: one, a list of them, or all. */
class axes {
  public:
    /** All of them. */
    axes() noexcept : count_(-1), axis_()
    {
    }
    /** One; negative ones count from the last on. */
    axes(int axis) noexcept : count_(1), axis_()
    {
        axis_[0] = axis;
    }
    /** Several. */
    axes(std::initializer_list<int> list) : count_(0), axis_()
    {
        if (list.size() > KILN_MAX_NDIM)
            throw error(KILN_ERROR_SHAPE, "axes: more were given than an array may have");
        for (int axis : list)
            axis_[count_++] = axis;
    }
    /** For functions of C; it may not outlive this one. */
    kiln_axes get(bool keepdims) const noexcept
    {
        kiln_axes list = {count_ < 0 ? nullptr : axis_, count_ < 0 ? 0 : count_, 0, keepdims};
        return list;
    }

  private:
    int count_; /** -1: all */
    int axis_[KILN_MAX_NDIM];
};

/* ---- kernels ---- */

/** kiln_kernel_options with their defaults. */
struct kernel_options : kiln_kernel_options {
    /** All defaults. */
    kernel_options() noexcept : kiln_kernel_options KILN_KERNEL_OPTIONS_INIT
    {
    }
};

/** The options of a call: kiln::call_options().over(-1).keepdims().on(stream). */
class call_options {
  public:
    /** The axes that a reduction reduces. */
    call_options &over(const axes &list)
    {
        axes_ = list;
        return *this;
    }
    /** Reduction axes stay, with extent 1. */
    call_options &keepdims() noexcept
    {
        return flags(KILN_CALL_KEEPDIMS);
    }
    /** The stream it is queued on, which has to live as long. */
    call_options &on(const stream &queue) noexcept
    {
        options_.stream = queue.get();
        return *this;
    }
    /** The number of elements, if every array is raw. */
    call_options &size(int64_t elements) noexcept
    {
        options_.size = elements;
        return *this;
    }
    /** The same by extents, which may be none. */
    call_options &shape(const extents &given)
    {
        shape_ = given.to_vector();
        has_shape_ = true;
        return *this;
    }
    /** The order of what the call allocates. */
    call_options &order(kiln_order given) noexcept
    {
        options_.order = given;
        return *this;
    }
    /** Threads a block. */
    call_options &block(int threads) noexcept
    {
        options_.block = threads;
        return *this;
    }
    /** KILN_CALL_* */
    call_options &flags(unsigned more) noexcept
    {
        options_.flags |= more;
        return *this;
    }
    /** For functions of C; it may not outlive this one. */
    kiln_call_options get() const noexcept
    {
        static const int64_t nothing = 0;
        kiln_call_options c = options_;
        const kiln_axes list = axes_.get(false);
        c.axes = list.axis;
        c.n_axes = list.count;
        if (has_shape_) {
            c.shape = shape_.empty() ? &nothing : shape_.data();
            c.ndim = static_cast<int>(shape_.size());
        }
        return c;
    }

  private:
    kiln_call_options options_ = KILN_CALL_OPTIONS_INIT;
    axes axes_;
    std::vector<int64_t> shape_;
    bool has_shape_ = false;
};

/** Shared by calls; not part of the interface. */
namespace priv {
/** The arguments of a call; with one more than are used, since no array is empty. */
template <class... Values> struct arguments {
    kiln_arg in[sizeof...(Values) + 1];
    explicit arguments(const Values &...values) : in{operand(values).arg()..., kiln_arg_none()}
    {
    }
    static constexpr int count = static_cast<int>(sizeof...(Values));
};

/** N results, which a call allocates. */
template <std::size_t N> class results {
  public:
    results() = default;
    results(const results &) = delete;
    results &operator=(const results &) = delete;
    ~results()
    {
        for (kiln_array *given : out_)
            kiln_array_free(given);
    }
    kiln_array **out() noexcept
    {
        return out_;
    }
    static constexpr int count = static_cast<int>(N);
    auto take() noexcept
    {
        return take(std::make_index_sequence<N>());
    }

  private:
    template <std::size_t... K> auto take(std::index_sequence<K...>) noexcept
    {
        return std::make_tuple(array(std::exchange(out_[K], nullptr))...);
    }
    kiln_array *out_[N + 1] = {};
};
} // namespace priv

/** A kernel with options of its calls: what kernel::with and kernel::over give. It keeps the
 * kernel, but not the stream. */
template <class Kernel> class calling {
  public:
    /** A kernel and the options of its calls. */
    calling(Kernel kernel, const call_options &options)
        : kernel_(std::move(kernel)), options_(options)
    {
    }
    /** With one result. */
    template <class... Values> [[nodiscard]] array operator()(const Values &...values) const
    {
        return std::get<0>(call<1>(values...));
    }
    /** With N results, as a tuple. */
    template <std::size_t N, class... Values> [[nodiscard]] auto call(const Values &...values) const
    {
        const kiln_call_options options = options_.get();
        return kernel_.template run<N>(&options, values...);
    }
    /** Into an array that is there. */
    template <class... Values> void into(const array &out, const Values &...values) const
    {
        into(std::tie(out), values...);
    }
    /** Into arrays that are there. */
    template <class... Arrays, class... Values>
    void into(const std::tuple<Arrays...> &outs, const Values &...values) const
    {
        const kiln_call_options options = options_.get();
        kernel_.run_into(&options, outs, values...);
    }
    /** The same, in braces: into({low, high}, x). */
    template <class... Values>
    void into(std::initializer_list<array> outs, const Values &...values) const
    {
        const kiln_call_options options = options_.get();
        kernel_.run_into(&options, outs, values...);
    }

  private:
    Kernel kernel_;
    call_options options_;
};

/** A reference to a kernel; copies refer to the same one. Kernels never change, and any number of
 * threads may call one. */
class kernel {
  public:
    /** Without a kernel. */
    kernel() noexcept : kernel_(nullptr)
    {
    }
    /** Takes one reference over: for what a function of C has given. */
    explicit kernel(kiln_kernel *taken) noexcept : kernel_(taken)
    {
    }
    /** One reference more to a kernel that stays its owner's. */
    static kernel share(kiln_kernel *other) noexcept
    {
        return kernel(kiln_kernel_retain(other));
    }
    /** Refers to the same kernel. */
    kernel(const kernel &other) noexcept : kernel_(kiln_kernel_retain(other.kernel_))
    {
    }
    /** Takes the other one's reference over. */
    kernel(kernel &&other) noexcept : kernel_(other.release())
    {
    }
    /** Refers to the other one from now on. */
    kernel &operator=(kernel other) noexcept
    {
        std::swap(kernel_, other.kernel_);
        return *this;
    }
    ~kernel()
    {
        kiln_kernel_free(kernel_);
    }

    /** An elementwise kernel: kiln_elementwise_create. */
    kernel(text in_params, text out_params, text body, text name = nullptr,
           const kernel_options &options = kernel_options())
        : kernel_(nullptr)
    {
        check(kiln_elementwise_create(&kernel_, in_params.get(), out_params.get(), body.get(),
                                      name.get(), &options));
    }
    /** identity nullptr: there is none. */
    [[nodiscard]] static kernel reduction(text in_params, text out_params, text map, text reduce,
                                          text post, text identity, text name = nullptr,
                                          const kernel_options &options = kernel_options())
    {
        kernel made;
        check(kiln_reduction_create(&made.kernel_, in_params.get(), out_params.get(), map.get(),
                                    reduce.get(), post.get(), identity.get(), name.get(),
                                    &options));
        return made;
    }
    /** NumPy's syntax: expression("x, g", "x / sqrt(mean(x * x)) * g"). */
    [[nodiscard]] static kernel expression(text params, text expression,
                                           const kernel_options &options = kernel_options())
    {
        kernel made;
        check(kiln_expression_create(&made.kernel_, params.get(), expression.get(), &options));
        return made;
    }

    /** The kernel stays this one's; NULL where it has none. */
    kiln_kernel *get() const noexcept
    {
        return kernel_;
    }
    /** The reference is the caller's from now on. */
    [[nodiscard]] kiln_kernel *release() noexcept
    {
        return std::exchange(kernel_, nullptr);
    }
    /** Where a function of C puts a kernel; what was here before is given back. */
    kiln_kernel **out() noexcept
    {
        kiln_kernel_free(std::exchange(kernel_, nullptr));
        return &kernel_;
    }
    /** True if it has a kernel. */
    explicit operator bool() const noexcept
    {
        return kernel_ != nullptr;
    }
    /** The name that it was made with. */
    std::string name() const
    {
        return kiln_kernel_name(kernel_);
    }

    /** A call with one result: z = kernel(x, 0.5). */
    template <class... Values> [[nodiscard]] array operator()(const Values &...values) const
    {
        return std::get<0>(call<1>(values...));
    }
    /** ... with N results, as a tuple: auto [low, high] = kernel.call<2>(x). */
    template <std::size_t N, class... Values> [[nodiscard]] auto call(const Values &...values) const
    {
        return run<N>(nullptr, values...);
    }
    /** ... into arrays that are there: kernel.into(z, x, 0.5), kernel.into({z, w}, x). */
    template <class... Values> void into(const array &out, const Values &...values) const
    {
        into(std::tie(out), values...);
    }
    /** Into several: std::tie(z, w). */
    template <class... Arrays, class... Values>
    void into(const std::tuple<Arrays...> &outs, const Values &...values) const
    {
        run_into(nullptr, outs, values...);
    }
    /** The same, in braces. */
    template <class... Values>
    void into(std::initializer_list<array> outs, const Values &...values) const
    {
        run_into(nullptr, outs, values...);
    }
    /** The time of such a call (kiln/benchmark.h); its results are freed. */
    template <class... Values> [[nodiscard]] kiln_benchmark benchmark(const Values &...values) const
    {
        const priv::arguments<Values...> list(values...);
        kiln_benchmark found = KILN_BENCHMARK_INIT;
        check(kiln_kernel_benchmark(&found, kernel_, nullptr,
                                    kernel_ ? kiln_kernel_n_out(kernel_) : 0, list.in, list.count,
                                    nullptr, nullptr));
        return found;
    }
    /** The same with options: kernel.with(kiln::call_options().on(stream))(x, 0.5). */
    [[nodiscard]] calling<kernel> with(const call_options &options) const
    {
        return calling<kernel>(*this, options);
    }
    /** For a reduction: norm.over(-1)(x). */
    [[nodiscard]] calling<kernel> over(const axes &list, bool keepdims = false) const
    {
        call_options options;
        options.over(list);
        return with(keepdims ? options.keepdims() : options);
    }

  private:
    friend class calling<kernel>;
    template <std::size_t N, class... Values>
    auto run(const kiln_call_options *options, const Values &...values) const
    {
        const priv::arguments<Values...> list(values...);
        priv::results<N> made;
        check(kiln_kernel_call(kernel_, made.out(), made.count, list.in, list.count, options));
        return made.take();
    }
    template <class... Arrays, class... Values>
    void run_into(const kiln_call_options *options, const std::tuple<Arrays...> &outs,
                  const Values &...values) const
    {
        kiln_array *given[sizeof...(Arrays) + 1] = {};
        std::apply(
            [&](const auto &...out) {
                std::size_t k = 0;
                ((given[k++] = out.get()), ...);
            },
            outs);
        run_at(options, given, sizeof...(Arrays), values...);
    }
    template <class... Values>
    void run_into(const kiln_call_options *options, std::initializer_list<array> outs,
                  const Values &...values) const
    {
        std::vector<kiln_array *> given;
        for (const array &out : outs)
            given.push_back(out.get());
        run_at(options, given.data(), given.size(), values...);
    }
    template <class... Values>
    void run_at(const kiln_call_options *options, kiln_array **given, std::size_t count,
                const Values &...values) const
    {
        for (std::size_t k = 0; k < count; ++k)
            if (!given[k])
                throw error(KILN_ERROR_INVALID,
                            "into: output " + std::to_string(k) +
                                " has no array; one to be written was expected");
        const priv::arguments<Values...> list(values...);
        check(kiln_kernel_call(kernel_, given, static_cast<int>(count), list.in, list.count,
                               options));
    }

    kiln_kernel *kernel_;
};

/** The C-order indices of the elements that are not zero: kiln_flatnonzero. */
[[nodiscard]] inline array flatnonzero(const array &x)
{
    array at;
    check((kiln_flatnonzero)(at.out(), kiln_arg_array(x.get())));
    return at;
}

namespace priv {
template <class Make> std::vector<array> parts(int n, const Make &make)
{
    std::vector<kiln_array *> made(static_cast<std::size_t>(n > 0 ? n : 0) + 1);
    check(make(made.data()));
    std::vector<array> list;
    for (int k = 0; k < n; ++k)
        list.push_back(array(made[static_cast<std::size_t>(k)]));
    return list;
}
} // namespace priv

/** Views of n parts of an axis, which have to be equal: kiln_split. */
[[nodiscard]] inline std::vector<array> split(const array &x, int n, int axis = 0)
{
    return priv::parts(
        n, [&](kiln_array **out) { return kiln_split(out, n, x.get(), axis, nullptr); });
}
/** ... between these places. */
[[nodiscard]] inline std::vector<array> split(const array &x, const std::vector<std::int64_t> &at,
                                              int axis = 0)
{
    const int n = static_cast<int>(at.size()) + 1;
    return priv::parts(
        n, [&](kiln_array **out) { return kiln_split(out, n, x.get(), axis, at.data()); });
}
/** Views of n parts of an axis, as equal as they can be: kiln_array_split. */
[[nodiscard]] inline std::vector<array> array_split(const array &x, int n, int axis = 0)
{
    return priv::parts(
        n, [&](kiln_array **out) { return kiln_array_split(out, n, x.get(), axis, nullptr); });
}
/** split along axis 0. */
[[nodiscard]] inline std::vector<array> vsplit(const array &x, int n)
{
    return split(x, n, 0);
}
/** split along axis 1, of one axis along it. */
[[nodiscard]] inline std::vector<array> hsplit(const array &x, int n)
{
    return split(x, n, x.ndim() > 1);
}
/** split along axis 2. */
[[nodiscard]] inline std::vector<array> dsplit(const array &x, int n)
{
    return split(x, n, 2);
}
/** Views of the elements along an axis: kiln_unstack. */
[[nodiscard]] inline std::vector<array> unstack(const array &x, int axis = 0)
{
    const int ndim = x.ndim(), of = axis < 0 ? axis + ndim : axis;
    const int n = of >= 0 && of < ndim ? static_cast<int>(kiln_array_shape(x.get())[of]) : 0;
    return priv::parts(n, [&](kiln_array **out) { return kiln_unstack(out, n, x.get(), axis); });
}

/** The indices along each axis of the elements that are not zero: kiln_nonzero. */
[[nodiscard]] inline std::vector<array> nonzero(const array &x)
{
    constexpr int most = 16;
    kiln_array *at[most] = {};
    check(kiln_nonzero(at, kiln_arg_array(x.get())));
    std::vector<array> list;
    for (int a = 0; a < x.ndim(); ++a)
        list.push_back(array(at[a]));
    return list;
}

/** The elements for which the condition is not zero: kiln_extract. */
[[nodiscard]] inline array extract(const array &condition, const array &x)
{
    array y;
    check((kiln_extract)(y.out(), kiln_arg_array(condition.get()), kiln_arg_array(x.get())));
    return y;
}

/** The elements in order, along an axis; KILN_ALL_AXES: all of them. flags: KILN_SORT_DESCENDING;
 * kiln_sort. */
[[nodiscard]] inline array sort(const operand &x, int axis = -1, unsigned flags = 0)
{
    array y;
    check((kiln_sort)(y.out(), x.arg(), axis, flags));
    return y;
}
/** Where each element of the sorted x was: kiln_argsort. */
[[nodiscard]] inline array argsort(const operand &x, int axis = -1, unsigned flags = 0)
{
    array at;
    check((kiln_argsort)(at.out(), x.arg(), axis, flags));
    return at;
}
/** The order by several keys, the last one the most important: kiln_lexsort. */
[[nodiscard]] inline array lexsort(std::initializer_list<operand> keys, int axis = -1)
{
    std::vector<kiln_arg> list;
    for (const operand &key : keys)
        list.push_back(key.arg());
    array at;
    check(kiln_lexsort(at.out(), list.data(), static_cast<int>(list.size()), axis));
    return at;
}
/** The k largest elements, and where they were; with flags 0 the smallest ones: kiln_topk. */
[[nodiscard]] inline auto topk(const operand &x, int64_t k, int axis = -1,
                               unsigned flags = KILN_SORT_DESCENDING)
{
    priv::results<2> made;
    check((kiln_topk)(made.out(), x.arg(), k, axis, flags));
    return made.take();
}
/** The elements, the kth where it is in order, lesser ones before it: kiln_partition. */
[[nodiscard]] inline array partition(const operand &x, int64_t kth, int axis = -1)
{
    array y;
    check((kiln_partition)(y.out(), x.arg(), kth, axis));
    return y;
}
/** Their indices: kiln_argpartition. */
[[nodiscard]] inline array argpartition(const operand &x, int64_t kth, int axis = -1)
{
    array at;
    check((kiln_argpartition)(at.out(), x.arg(), kth, axis));
    return at;
}
/** The middle element, along these axes or all: kiln_median. */
[[nodiscard]] inline array median(const operand &x, const axes &over = axes(),
                                  bool keepdims = false)
{
    const kiln_axes list = over.get(keepdims);
    array y;
    check((kiln_median)(y.out(), x.arg(), list.axis, list.count, keepdims));
    return y;
}
/** Quantiles, from 0 to 1, by one of NumPy's methods: kiln_quantile. */
[[nodiscard]] inline array quantile(const operand &x, const operand &q, const axes &over = axes(),
                                    text method = "linear", bool keepdims = false)
{
    const kiln_axes list = over.get(keepdims);
    array y;
    check(
        (kiln_quantile)(y.out(), x.arg(), q.arg(), method.get(), list.axis, list.count, keepdims));
    return y;
}
/** The same from 0 to 100: kiln_percentile. */
[[nodiscard]] inline array percentile(const operand &x, const operand &q, const axes &over = axes(),
                                      text method = "linear", bool keepdims = false)
{
    const kiln_axes list = over.get(keepdims);
    array y;
    check((kiln_percentile)(y.out(), x.arg(), q.arg(), method.get(), list.axis, list.count,
                            keepdims));
    return y;
}
/** The middle element that is not NaN: kiln_nanmedian. */
[[nodiscard]] inline array nanmedian(const operand &x, const axes &over = axes(),
                                     bool keepdims = false)
{
    const kiln_axes list = over.get(keepdims);
    array y;
    check((kiln_nanmedian)(y.out(), x.arg(), list.axis, list.count, keepdims));
    return y;
}
/** Quantiles of elements that are not NaN: kiln_nanquantile. */
[[nodiscard]] inline array nanquantile(const operand &x, const operand &q,
                                       const axes &over = axes(), text method = "linear",
                                       bool keepdims = false)
{
    const kiln_axes list = over.get(keepdims);
    array y;
    check((kiln_nanquantile)(y.out(), x.arg(), q.arg(), method.get(), list.axis, list.count,
                             keepdims));
    return y;
}
/** The same from 0 to 100: kiln_nanpercentile. */
[[nodiscard]] inline array nanpercentile(const operand &x, const operand &q,
                                         const axes &over = axes(), text method = "linear",
                                         bool keepdims = false)
{
    const kiln_axes list = over.get(keepdims);
    array y;
    check((kiln_nanpercentile)(y.out(), x.arg(), q.arg(), method.get(), list.axis, list.count,
                               keepdims));
    return y;
}
/** The counts of each number in an array of integers: kiln_bincount. */
[[nodiscard]] inline array bincount(const array &x, std::int64_t minlength = 0)
{
    array counts;
    check(kiln_bincount(counts.out(), kiln_arg_array(x.get()), kiln_arg_none(), minlength));
    return counts;
}
/** ... the sums of their weights. */
[[nodiscard]] inline array bincount(const array &x, const array &weights,
                                    std::int64_t minlength = 0)
{
    const kiln_arg w = kiln_arg_array(weights.get());
    array sums;
    check(kiln_bincount(sums.out(), kiln_arg_array(x.get()), w, minlength));
    return sums;
}

namespace priv {
inline std::array<array, 2> histogram(const array &x, std::int64_t bins, const double *range)
{
    const kiln_arg in = kiln_arg_array(x.get());
    std::array<array, 2> z;
    check(kiln_histogram(z[0].out(), z[1].out(), in, bins, range, kiln_arg_none()));
    return z;
}
} // namespace priv

/** Counts of so many bins, equally wide, from the least element to the greatest, and their edges:
 * kiln_histogram. */
[[nodiscard]] inline std::array<array, 2> histogram(const array &x, std::int64_t bins = 10)
{
    return priv::histogram(x, bins, nullptr);
}
/** ... of [low, high]. */
[[nodiscard]] inline std::array<array, 2> histogram(const array &x, std::int64_t bins, double low,
                                                    double high)
{
    const double range[] = {low, high};
    return priv::histogram(x, bins, range);
}

/** The edges of such bins alone: kiln_histogram_bin_edges. */
[[nodiscard]] inline array histogram_bin_edges(const array &x, std::int64_t bins = 10)
{
    array edges;
    check(kiln_histogram_bin_edges(edges.out(), kiln_arg_array(x.get()), bins, nullptr));
    return edges;
}
/** ... of [low, high]. */
[[nodiscard]] inline array histogram_bin_edges(const array &x, std::int64_t bins, double low,
                                               double high)
{
    const double range[] = {low, high};
    array edges;
    check(kiln_histogram_bin_edges(edges.out(), kiln_arg_array(x.get()), bins, range));
    return edges;
}
/** The counts of points by their columns, then the edges of each column: kiln_histogramdd. */
[[nodiscard]] inline std::vector<array> histogramdd(const std::vector<operand> &columns,
                                                    const std::vector<std::int64_t> &bins)
{
    const int n = static_cast<int>(columns.size());
    std::vector<kiln_arg> in;
    for (const operand &column : columns)
        in.push_back(column.arg());
    if (bins.size() != columns.size())
        throw error(KILN_ERROR_INVALID, "histogramdd: as many numbers of bins as columns were "
                                        "expected");
    return priv::parts(n + 1, [&](kiln_array **out) {
        return (kiln_histogramdd)(out, in.data(), n, bins.data(), nullptr, kiln_arg_none());
    });
}
/** The indices along each axis of elements that are given by their numbers: kiln_unravel_index. */
[[nodiscard]] inline std::vector<array> unravel_index(const operand &indices,
                                                      const std::vector<std::int64_t> &shape)
{
    const int ndim = static_cast<int>(shape.size());
    return priv::parts(ndim, [&](kiln_array **out) {
        return (kiln_unravel_index)(out, indices.arg(), shape.data(), ndim);
    });
}
/** NumPy's gradient of all axes, an array for each: gradient along one after the other. */
[[nodiscard]] inline std::vector<array> gradients(const array &f, const operand &dx = 1.0,
                                                  std::int64_t edge_order = 1)
{
    std::vector<array> list(static_cast<std::size_t>(f.ndim()));
    for (std::size_t axis = 0; axis < list.size(); ++axis)
        check((kiln_gradient)(list[axis].out(), kiln_arg_array(f.get()), dx.arg(),
                              static_cast<std::int64_t>(axis), edge_order));
    return list;
}

/** A key and a position, from which arrays are filled with random numbers: kiln_random. */
class random_source : public unique<kiln_random, kiln_random_free> {
  public:
    using unique::unique;
    /** At position 0: kiln_random_create. */
    [[nodiscard]] static random_source create(std::uint64_t seed, std::uint64_t stream = 0)
    {
        random_source made;
        check(kiln_random_create(made.out(), seed, stream));
        return made;
    }
    /** The key of expressions and texts that have the same numbers. */
    [[nodiscard]] std::uint64_t key() const noexcept
    {
        return kiln_random_key(get());
    }
    /** The number of the next call's first element. */
    [[nodiscard]] std::uint64_t position() const noexcept
    {
        return kiln_random_position(get());
    }
    /** Goes there. */
    void set_position(std::uint64_t position) noexcept
    {
        kiln_random_set_position(get(), position);
    }
    /** fill(x, "normal", 0, 2): kiln_random_fill. */
    template <class... Values> void fill(const array &x, text name, const Values &...values)
    {
        const priv::arguments<Values...> list(values...);
        check(kiln_random_fill(get(), x.get(), name.get(), list.in, list.count));
    }
    /** fill_integers(x, 0, 10): from low to high - 1, or, if closed, to high. */
    void fill_integers(const array &x, const operand &low, const operand &high, bool closed = false)
    {
        check(kiln_random_integers(get(), x.get(), low.arg(), high.arg(), closed));
    }
};

/** An elementwise kernel, remembered by its texts, and a call of it: kiln_map. */
template <class... Values>
[[nodiscard]] array map(text in_params, text out_params, text body, const Values &...values)
{
    const priv::arguments<Values...> list(values...);
    array z;
    check(kiln_map(z.out(), 1, in_params.get(), out_params.get(), body.get(), list.in, list.count));
    return z;
}
/** ... with N results, and with options. */
template <std::size_t N, class... Values>
[[nodiscard]] auto map(const call_options &given, text in_params, text out_params, text body,
                       const Values &...values)
{
    const priv::arguments<Values...> list(values...);
    const kiln_call_options options = given.get();
    priv::results<N> made;
    check(kiln_map_call(made.out(), made.count, in_params.get(), out_params.get(), body.get(),
                        list.in, list.count, &options));
    return made.take();
}
/** ... with one result, and with options. */
template <class... Values>
[[nodiscard]] array map(const call_options &given, text in_params, text out_params, text body,
                        const Values &...values)
{
    return std::get<0>(map<1>(given, in_params, out_params, body, values...));
}

/** A kernel with one output that a function of C gave. */
template <class... Values> [[nodiscard]] array call(kiln_kernel *kernel, const Values &...values)
{
    return kiln::kernel::share(kernel)(values...);
}

/** An operation with one result by its name, a registered one too. */
template <class... Values> [[nodiscard]] array apply(text name, const Values &...values)
{
    const priv::arguments<Values...> list(values...);
    array result;
    check(kiln_apply(result.out(), 1, name.get(), list.in, list.count, nullptr));
    return result;
}

/** An operation with one result by its name, with what NumPy's functions take beside their inputs;
 * arrays and texts have to live until the call:
 *
 *     kiln::applied("divide").where(y != 0).dtype(KILN_FLOAT32)(x, y);
 *     kiln::applied("add").where(mask).into(z, x, y);  // the others stay as they are in z */
class applied {
  public:
    /** An operation, a registered one too. */
    explicit applied(text name) noexcept : name_(name)
    {
    }
    /** A mask of elements, which broadcasts. */
    applied &where(const operand &mask) noexcept
    {
        where_ = mask.arg();
        return *this;
    }
    /** One more element of sums, products and extremes. */
    applied &initial(const operand &number) noexcept
    {
        initial_ = number.arg();
        return *this;
    }
    /** The dtype of the results, in which is computed. */
    applied &dtype(kiln_dtype of_results) noexcept
    {
        with_.dtype = of_results;
        return *this;
    }
    /** "no", "equiv", "safe", "same_kind" or "unsafe". */
    applied &casting(text rule) noexcept
    {
        with_.casting = rule.get();
        return *this;
    }
    /** Axes, order and the other options of a call. */
    applied &with(const call_options &given)
    {
        options_ = given;
        return *this;
    }
    /** A new array. */
    template <class... Values> [[nodiscard]] array operator()(const Values &...values) const
    {
        kiln_array *result = nullptr;
        call(&result, values...);
        return array(result);
    }
    /** An array that is there. */
    template <class... Values> void into(const array &out, const Values &...values) const
    {
        kiln_array *result = out.get();
        call(&result, values...);
    }

  private:
    template <class... Values> void call(kiln_array **out, const Values &...values) const
    {
        const priv::arguments<Values...> list(values...);
        kiln_apply_options with = with_;
        with.where = where_.kind == KILN_ARG_NONE ? nullptr : &where_;
        with.initial = initial_.kind == KILN_ARG_NONE ? nullptr : &initial_;
        const kiln_call_options options = options_.get();
        check(kiln_apply_with(out, 1, name_.get(), list.in, list.count, &with, &options));
    }
    text name_;
    call_options options_;
    kiln_arg where_ = kiln_arg_none(), initial_ = kiln_arg_none();
    kiln_apply_options with_ = KILN_APPLY_OPTIONS_INIT;
};

/* ---- traces ---- */

/** Calls with its arrays are recorded instead of run, and become one kernel
 * (kiln/trace.h):
 *
 *     kiln::trace t("centred");
 *     const kiln::array x = t.input("x", KILN_FLOAT32, {64, 768});
 *     const kiln::kernel centred = t.end({x - kiln::mean(x, -1, true)}); */
class trace : public unique<kiln_trace, kiln_trace_free> {
  public:
    using unique::unique;
    /** Begins one; the name becomes the kernel's. */
    explicit trace(text name)
    {
        check(kiln_trace_begin(out(), name.get()));
    }
    /** The next input of the kernel, which has no data. */
    [[nodiscard]] array input(text name, kiln_dtype dtype, const extents &shape)
    {
        array x;
        check(kiln_trace_input(x.out(), get(), name.get(), dtype, shape.ndim(), shape.data()));
        return x;
    }
    /** Makes a kernel whose results these are. */
    [[nodiscard]] kernel end(std::initializer_list<array> results,
                             const kernel_options &options = kernel_options())
    {
        std::vector<kiln_array *> given;
        for (const array &result : results)
            given.push_back(result.get());
        kernel made;
        check(kiln_trace_end(made.out(), get(), given.data(), static_cast<int>(given.size()),
                             &options));
        return made;
    }
};

} // namespace kiln

#include <kiln/ops.hpp>

#endif
