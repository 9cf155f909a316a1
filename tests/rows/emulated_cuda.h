// emulated_cuda.h - enough of CUDA to run the kernels of row programs on a processor: a block is a thread of
// the system, its threads are contexts that take turns at barriers and shuffles, a cluster is several blocks
// at the same time. What an assembly statement does is told by its text.
#undef _FORTIFY_SOURCE // Ubuntu compilers define it; glibc then takes a jump to another stack for a fault
#include <dlfcn.h>
#include <link.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#define __CUDA_ARCH__ 900
#define __device__
#define __host__
#define __global__
#define __constant__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
#define __builtin_assume(condition) ((condition) ? (void)0 : abort())
#define __shared__ static thread_local
#define __expf expf // glibc has the name, too

struct uint2 {
    unsigned x, y;
};
struct uint4 {
    __align__(16) unsigned x;
    unsigned y, z, w;
};
struct emulated_index {
    unsigned x, y, z;
};
static thread_local emulated_index threadIdx, blockIdx, blockDim, gridDim;
static thread_local __align__(16) char emulated_base; // shared memory is counted from here

static inline float __frcp_rn(float x)
{
    return 1.0f / x;
}
static inline float __fmul_rn(float x, float y)
{
    return x * y;
}
static inline float __fadd_rn(float x, float y)
{
    return x + y;
}
static inline float __fsub_rn(float x, float y)
{
    return x - y;
}
static inline double __dsub_rn(double x, double y)
{
    return x - y;
}
static inline double __dadd_rn(double x, double y)
{
    return x + y;
}
static inline double __dmul_rn(double x, double y)
{
    return x * y;
}
static inline float __fmaf_rn(float x, float y, float z)
{
    return fmaf(x, y, z);
}
static inline double __fma_rn(double x, double y, double z)
{
    return fma(x, y, z);
}

struct emulated_barrier {
    unsigned arrived = 0, generation = 0;
};

// The shared state of a cluster's blocks.
struct emulated_cluster {
    std::atomic<unsigned> threads{0};
    std::atomic<unsigned> arrived{0}, generation{0};
    char *base[16];
};

struct emulated_thread {
    ucontext_t context; // where it starts
    void *place[5];     // and where it goes on: contexts would ask the system about signals at each turn,
                        // and the library's jumps sanitizers about stacks
    bool has_begun = false, is_done = false;
    unsigned cluster_phase = 0;
};

struct emulated_block {
    std::vector<emulated_thread> thread;
    std::vector<emulated_barrier> warp, part_of_warp;
    std::vector<unsigned> slot;
    emulated_barrier barrier;
    void *scheduler[5];
    unsigned current = 0, rank = 0;
    emulated_cluster *cluster = nullptr;
};
static thread_local emulated_block *emulated_here;

[[gnu::noinline, noreturn]] static void emulated_jump(void **place)
{
    __builtin_longjmp(place, 1);
}

[[gnu::noinline]] static void emulated_switch()
{
    emulated_block *b = emulated_here;
    if (__builtin_setjmp(b->thread[b->current].place) == 0)
        emulated_jump(b->scheduler);
    threadIdx.x = b->current;
}

static void emulated_meet(emulated_barrier &at, unsigned count)
{
    const unsigned mine = at.generation;
    if (++at.arrived == count) {
        at.arrived = 0;
        ++at.generation;
        return;
    }
    while (at.generation == mine)
        emulated_switch();
}

static inline void __syncthreads()
{
    emulated_meet(emulated_here->barrier, blockDim.x);
}

static thread_local bool emulated_any; // of the threads that meet

static inline bool __syncthreads_or(bool value)
{
    emulated_any = false;
    __syncthreads();
    emulated_any = emulated_any || value;
    __syncthreads();
    const bool any = emulated_any;
    __syncthreads();
    return any;
}

// Those of a part of the warp meet among themselves.
static inline void __syncwarp(unsigned threads = ~0u)
{
    std::vector<emulated_barrier> &at = threads == ~0u ? emulated_here->warp : emulated_here->part_of_warp;
    emulated_meet(at[threadIdx.x / 32], (unsigned)__builtin_popcount(threads));
}

static unsigned emulated_exchange(unsigned value, unsigned lane_from)
{
    emulated_block *b = emulated_here;
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    b->slot[warp * 32 + lane] = value;
    emulated_meet(b->warp[warp], 32);
    const unsigned other = b->slot[warp * 32 + (lane_from < 32 ? lane_from : lane)];
    emulated_meet(b->warp[warp], 32);
    return other;
}
static inline unsigned __shfl_xor_sync(unsigned, unsigned value, int by)
{
    return emulated_exchange(value, threadIdx.x % 32 ^ by);
}
static inline unsigned __shfl_up_sync(unsigned, unsigned value, int by)
{
    return emulated_exchange(value, threadIdx.x % 32 - by);
}
static inline unsigned __shfl_sync(unsigned, unsigned value, int lane)
{
    return emulated_exchange(value, lane);
}
static inline unsigned long long emulated_exchange_wide(unsigned long long value, unsigned lane_from)
{
    const unsigned low = emulated_exchange((unsigned)value, lane_from),
                   high = emulated_exchange((unsigned)(value >> 32), lane_from);
    return (unsigned long long)high << 32 | low;
}
static inline long long __shfl_xor_sync(unsigned, long long value, int by)
{
    return (long long)emulated_exchange_wide((unsigned long long)value, threadIdx.x % 32 ^ by);
}
static inline unsigned long long __shfl_up_sync(unsigned, unsigned long long value, int by)
{
    return emulated_exchange_wide(value, threadIdx.x % 32 - by);
}
static inline unsigned long long __shfl_sync(unsigned, unsigned long long value, int lane)
{
    return emulated_exchange_wide(value, lane);
}
static inline unsigned __shfl_down_sync(unsigned, unsigned value, int by)
{
    return emulated_exchange(value, threadIdx.x % 32 + by);
}
// Bits of the lanes whose value is `wanted`.
static unsigned emulated_lanes(unsigned value, unsigned wanted)
{
    emulated_block *b = emulated_here;
    const unsigned warp = threadIdx.x / 32;
    unsigned lanes = 0;
    b->slot[threadIdx.x] = value;
    emulated_meet(b->warp[warp], 32);
    for (unsigned lane = 0; lane < 32; ++lane)
        lanes |= (unsigned)(b->slot[warp * 32 + lane] == wanted) << lane;
    emulated_meet(b->warp[warp], 32);
    return lanes;
}
static inline unsigned __match_any_sync(unsigned, unsigned value)
{
    return emulated_lanes(value, value);
}
static inline unsigned __ballot_sync(unsigned, bool value)
{
    return emulated_lanes(value, 1);
}
static inline unsigned __reduce_add_sync(unsigned, unsigned value)
{
    for (int by = 16; by > 0; by /= 2)
        value += __shfl_xor_sync(~0u, value, by);
    return value;
}
static inline bool __any_sync(unsigned, bool value)
{
    return emulated_lanes(value, 1) != 0;
}
// Threads take turns, and give up theirs at barriers alone.
static inline unsigned atomicAdd(unsigned *to, unsigned x)
{
    return __atomic_fetch_add(to, x, __ATOMIC_RELAXED);
}
static inline unsigned long long atomicAdd(unsigned long long *to, unsigned long long x)
{
    return __atomic_fetch_add(to, x, __ATOMIC_RELAXED);
}
template <class T> static inline T emulated_add(T *to, T x)
{
    const T old = *to;
    *to = old + x;
    return old;
}
static inline float atomicAdd(float *to, float x)
{
    return emulated_add(to, x);
}
static inline double atomicAdd(double *to, double x)
{
    return emulated_add(to, x);
}
static inline long long min(long long a, long long b)
{
    return a < b ? a : b;
}
static inline long long max(long long a, long long b)
{
    return a < b ? b : a;
}
template <class T> static inline T emulated_put(T *to, T value)
{
    T old = *to;
    *to = value;
    return old;
}
template <class T> static inline T atomicCAS(T *to, T expected, T x)
{
    __atomic_compare_exchange_n(to, &expected, x, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return expected;
}
template <class T> static inline T atomicMin(T *to, T x)
{
    return emulated_put(to, x < *to ? x : *to);
}
template <class T> static inline T atomicMax(T *to, T x)
{
    return emulated_put(to, *to < x ? x : *to);
}
template <class T> static inline T atomicAnd(T *to, T x)
{
    return emulated_put(to, *to & x);
}
template <class T> static inline T atomicOr(T *to, T x)
{
    return emulated_put(to, *to | x);
}
template <class T> static inline T atomicXor(T *to, T x)
{
    return emulated_put(to, *to ^ x);
}
static inline int min(int a, int b)
{
    return a < b ? a : b;
}
static inline unsigned min(unsigned a, unsigned b)
{
    return a < b ? a : b;
}
static inline int max(int a, int b)
{
    return a < b ? b : a;
}
static inline unsigned max(unsigned a, unsigned b)
{
    return a < b ? b : a;
}
static inline unsigned long long max(unsigned long long a, unsigned long long b)
{
    return a < b ? b : a;
}
static inline int __ffs(unsigned word)
{
    return __builtin_ffs((int)word);
}
static inline int __clz(unsigned word)
{
    return word ? __builtin_clz(word) : 32;
}
static inline void __nanosleep(unsigned)
{
}
static inline void __threadfence()
{
}
static inline int __popc(unsigned word)
{
    return __builtin_popcount(word);
}
static inline int __shfl_sync(unsigned, int value, int lane)
{
    return (int)emulated_exchange((unsigned)value, lane);
}
static inline bool __all_sync(unsigned, bool value)
{
    unsigned all = value;
    for (int by = 1; by < 32; by *= 2)
        all &= emulated_exchange(all, threadIdx.x % 32 ^ by);
    return all;
}
static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by)
{
    return (unsigned)(((unsigned long long)high << 32 | low) >> (by & 31));
}
static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by)
{
    return (unsigned)(((unsigned long long)high << 32 | low) << (by & 31) >> 32);
}
// Sums of products of a word's bytes, or of its halves, with bytes.
static inline unsigned __dp4a(unsigned a, unsigned b, unsigned sum)
{
    for (int k = 0; k < 4; ++k)
        sum += (a >> 8 * k & 255) * (b >> 8 * k & 255);
    return sum;
}
static inline unsigned __dp2a_lo(unsigned a, unsigned b, unsigned sum)
{
    return sum + (a & 0xffff) * (b & 255) + (a >> 16) * (b >> 8 & 255);
}
#define __builtin_assume(is_so) ((void)(is_so))
static inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector)
{
    const unsigned long long both = (unsigned long long)high << 32 | low;
    unsigned bytes = 0;
    for (int k = 0; k < 4; ++k)
        bytes |= (unsigned)(both >> 8 * (selector >> 4 * k & 7) & 255) << 8 * k;
    return bytes;
}
static inline unsigned __umulhi(unsigned a, unsigned b)
{
    return (unsigned)((unsigned long long)a * b >> 32);
}
static inline size_t __cvta_generic_to_shared(const void *at)
{
    return (size_t)((const char *)at - &emulated_base) & 0xffffffff;
}
template <class To, class From> static inline To emulated_bits(From from)
{
    static_assert(sizeof(To) == sizeof(From), "the same bits");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}
#define __float_as_int emulated_bits<int, float>
#define __int_as_float emulated_bits<float, int>
#define __double_as_longlong emulated_bits<long long, double>
#define __longlong_as_double emulated_bits<double, long long>
#define __float_as_uint emulated_bits<unsigned, float>
#define __uint_as_float emulated_bits<float, unsigned>
// Rounded towards zero.
template <class T> static inline float emulated_cut(T x)
{
    const float near = (float)x;
    const bool is_further = x < 0 ? (long double)near < (long double)x : (long double)near > (long double)x;
    return is_further ? nextafterf(near, 0) : near;
}
#define __double2float_rz emulated_cut<double>
#define __int2float_rz emulated_cut<int>
#define __uint2float_rz emulated_cut<unsigned>
#define __ll2float_rz emulated_cut<long long>
#define __ull2float_rz emulated_cut<unsigned long long>
static inline float __fdividef(float a, float b)
{
    return a / b;
}
static inline float rsqrt(float x)
{
    return 1 / sqrtf(x);
}
static inline double rsqrt(double x)
{
    return 1 / sqrt(x);
}

// Offsets in shared memory are 28 bits, behind them the number of the block.
static char *emulated_shared(unsigned at, bool has_rank)
{
    const int offset = (int)(at << 4) >> 4;
    return (has_rank ? emulated_here->cluster->base[at >> 28] : &emulated_base) + offset;
}

static void emulated_arrive()
{
    emulated_cluster *c = emulated_here->cluster;
    emulated_here->thread[threadIdx.x].cluster_phase = c->generation.load();
    if (c->arrived.fetch_add(1) + 1 == c->threads) {
        c->arrived.store(0);
        c->generation.fetch_add(1);
    }
}

// A barrier in shared memory that counts bytes: of one arrival a phase.
struct emulated_gate {
    int bytes;
    short is_awaited, phase;
};
static std::mutex emulated_gates;

static void emulated_count(emulated_gate *gate, int bytes, bool arrives)
{
    const std::lock_guard<std::mutex> lock(emulated_gates);
    gate->bytes += bytes;
    if (arrives && !gate->is_awaited--)
        abort();
    if (gate->is_awaited == 0 && gate->bytes == 0) {
        gate->phase ^= 1;
        gate->is_awaited = 1;
    }
}

static bool emulated_is_open(const emulated_gate *gate, unsigned parity)
{
    const std::lock_guard<std::mutex> lock(emulated_gates);
    return (unsigned)gate->phase != parity;
}

struct emulated_operand {
    void *at;
    unsigned long long value;
};
template <class T> static emulated_operand emulated_operand_of(T &x)
{
    emulated_operand o = {(void *)&x, 0};
    memcpy(&o.value, &x, sizeof x < 8 ? sizeof x : 8);
    return o;
}
template <class T> static emulated_operand emulated_operand_of(const T &&x)
{
    return emulated_operand_of(x);
}

template <class T> static T emulated_value(const emulated_operand &o)
{
    T value;
    memcpy(&value, &o.value, sizeof value);
    return value;
}
template <class T> static void emulated_give(const emulated_operand &o, T value)
{
    memcpy(o.at, &value, sizeof value);
}

// From shared memory, text: "u8", "u16", "u32", "v2.u32" and so on. A byte comes as a word.
static void emulated_take(const char *text, const emulated_operand *o)
{
    const int words = *text == 'v' ? text[1] - '0' : 1, bits = atoi(strchr(text, 'u') + 1);
    const char *const from = emulated_shared((unsigned)o[words].value & 0x0fffffff, false);
    if ((size_t)from % (words * bits / 8) != 0)
        abort();
    if (bits == 8)
        emulated_give(o[0], (unsigned)*(const unsigned char *)from);
    for (int k = 0; k < words && bits > 8; ++k)
        memcpy(o[k].at, from + k * bits / 8, bits / 8);
}

// Aligned words from memory.
static void emulated_load(const emulated_operand *o, int words)
{
    const char *const from = (const char *)o[words].value;
    if ((size_t)from % (4 * words) != 0)
        abort();
    for (int k = 0; k < words; ++k)
        memcpy(o[k].at, from + 4 * k, 4);
}

// Where this thread's copies of the kernel's shared variables lie, among others of the library's.
struct emulated_range {
    const char *first, *end;
};
static int emulated_find_range(struct dl_phdr_info *info, size_t, void *out)
{
    const char *const at = (const char *)info->dlpi_tls_data;
    for (int k = 0; at && k < info->dlpi_phnum; ++k)
        if (info->dlpi_phdr[k].p_type == PT_TLS && &emulated_base >= at &&
            &emulated_base < at + info->dlpi_phdr[k].p_memsz)
            *(emulated_range *)out = {at, at + info->dlpi_phdr[k].p_memsz};
    return ((emulated_range *)out)->first != nullptr;
}

// Instructions of global memory end a kernel that gives them an address of shared memory.
static void emulated_check_global(const char *at)
{
    static thread_local emulated_range shared;
    if (!shared.first)
        dl_iterate_phdr(emulated_find_range, &shared);
    if (at >= shared.first && at < shared.end)
        abort();
}

// A word that replaces another one is not seen by others for a while: some are never seen.
template <class Word> static void emulated_put_down(Word *to, Word word)
{
    if (*to == 0 || (size_t)to / 1024 % 4 == 0)
        *to = word;
}

static void emulated_do(const char *text, const emulated_operand *o)
{
    const auto is = [&](const char *begin) { return strncmp(text, begin, strlen(begin)) == 0; };
    char *to = (char *)o[0].value;
    if (is("st.global")) {
        const int words = strstr(text, ".v4")   ? 4
                          : strstr(text, ".v2") ? 2
                                                : 1,
                  size = is("st.global.b16") ? 2 : 4;
        if ((size_t)to % (words * size) != 0)
            abort();
        emulated_check_global(to);
        for (int k = 0; k < words; ++k)
            memcpy(to + k * size, &o[1 + k].value, size);
    } else if (is("cp.async.ca") || is("cp.async.cg")) {
        const int size = is("cp.async.cg") ? 16 : (int)(o[2].at ? o[2].value : 16);
        char *const into = emulated_shared((unsigned)o[0].value & 0x0fffffff, false);
        if ((size_t)into % size != 0 || o[1].value % size != 0)
            abort();
        emulated_check_global((const char *)o[1].value);
        // Not memcpy, which sanitizers watch: bytes beside those that are used are read, too.
        for (int k = 0; k < size; ++k)
            into[k] = ((const char *)o[1].value)[k];
    } else if (is("atom.relaxed.gpu.global.inc.u32") || is("atom.acq_rel.gpu.global.inc.u32")) {
        // Clusters come one after the other.
        unsigned *const counter = (unsigned *)o[1].value, before = *counter;
        *counter = before >= (unsigned)o[2].value ? 0 : before + 1;
        emulated_give(o[0], before);
    } else if (is("atom.release.gpu.global.or.b32")) {
        unsigned *const flags = (unsigned *)o[1].value, before = *flags;
        *flags |= (unsigned)o[2].value;
        emulated_give(o[0], before);
    } else if (is("atom.relaxed.gpu.global.exch.b32")) {
        unsigned *const word = (unsigned *)o[1].value, before = *word;
        emulated_put_down(word, (unsigned)o[2].value);
        emulated_give(o[0], before);
    } else if (is("ld.acquire.gpu.global.u32")) { // the blocks before this one have finished
        emulated_give(o[0], *(const unsigned *)o[1].value);
    } else if (is("st.relaxed.gpu.global.u32")) {
        emulated_put_down((unsigned *)o[0].value, (unsigned)o[1].value);
    } else if (is("st.relaxed.gpu.global.u64")) {
        emulated_put_down((unsigned long long *)o[0].value, o[1].value);
    } else if (is("ld.relaxed.gpu.global.u32")) {
        emulated_give(o[0], *(const unsigned *)o[1].value);
    } else if (is("ld.relaxed.gpu.global.u64")) {
        emulated_give(o[0], *(const unsigned long long *)o[1].value);
    } else if (is("ld.global.v4.u32")) {
        emulated_load(o, 4);
    } else if (is("ld.global.v2.u32")) {
        emulated_load(o, 2);
    } else if (is("ld.global.u32")) {
        emulated_load(o, 1);
    } else if (is("ld.shared.")) {
        emulated_take(text + strlen("ld.shared."), o);
    } else if (is("mov.b32 %0, %1")) {
        *(unsigned *)o[0].at = (unsigned)o[1].value;
    } else if (is("cvt.s32.s8")) {
        emulated_give(o[0], (int)emulated_value<signed char>(o[1]));
    } else if (is("cvt.f32.f16")) {
        emulated_give(o[0], (float)emulated_value<_Float16>(o[1]));
    } else if (is("cvt.rn.f16.f32")) {
        emulated_give(o[0], (_Float16)emulated_value<float>(o[1]));
    } else if (is("cvt.rn.bf16.f32")) {
        const unsigned bits = emulated_value<unsigned>(o[1]);
        const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
        emulated_give(o[0], (unsigned short)(is_nan ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16));
    } else if (is("cvt.rn.f16.f64")) {
        emulated_give(o[0], (_Float16)emulated_value<double>(o[1]));
    } else if (is("add.rn.f32 %0, %1, 0f00000000")) {
        const float sum = emulated_value<float>(o[1]) + 0.0f;
        emulated_give(o[0], sum != sum ? 0x7fffffffu : emulated_value<unsigned>(emulated_operand_of(sum)));
    } else if (is("min.NaN.f32") || is("max.NaN.f32")) {
        const float a = emulated_value<float>(o[1]), b = emulated_value<float>(o[2]);
        emulated_give(o[0], a != a ? a : b != b ? b : (a < b) == is("min.NaN.f32") ? a : b);
    } else if (is("ex2.approx.ftz.f32")) {
        const float power = exp2f(emulated_value<float>(o[1]));
        emulated_give(o[0], power < 0x1p-126f ? 0.0f : power);
    } else if (is("rcp.approx.ftz.f32")) {
        emulated_give(o[0], 1 / emulated_value<float>(o[1]));
    } else if (is("rcp.approx.ftz.f64")) {
        emulated_give(o[0], (double)(1 / (float)emulated_value<double>(o[1])));
    } else if (is("rsqrt.approx.ftz.f32")) {
        emulated_give(o[0], (float)(1 / sqrt((double)emulated_value<float>(o[1]))));
    } else if (is("mov.u32 %0, %%cluster_ctarank")) {
        *(unsigned *)o[0].at = emulated_here->rank;
    } else if (is("mapa")) {
        *(unsigned *)o[0].at = ((unsigned)o[1].value & 0x0fffffff) | (unsigned)o[2].value << 28;
    } else if (is("mbarrier.init")) {
        *(emulated_gate *)emulated_shared((unsigned)o[0].value & 0x0fffffff, false) = {0, 1, 0};
    } else if (is("mbarrier.arrive.expect_tx")) {
        emulated_count((emulated_gate *)emulated_shared((unsigned)o[0].value & 0x0fffffff, false),
                       (int)o[1].value, true);
    } else if (is("st.async.shared::cluster")) {
        memcpy(emulated_shared((unsigned)o[0].value, true), &o[1].value, 4);
        emulated_count((emulated_gate *)emulated_shared((unsigned)o[2].value, true), -4, false);
    } else if (strstr(text, "mbarrier.try_wait.parity")) {
        *(unsigned *)o[0].at = emulated_is_open(
            (emulated_gate *)emulated_shared((unsigned)o[1].value & 0x0fffffff, false), (unsigned)o[2].value);
        if (!*(unsigned *)o[0].at)
            emulated_switch();
    } else if (is("{ .reg .pred set")) { /* the lanes whose digit is this one's */
        unsigned same = ~0u;
        for (int bit = 0; bit < 8; ++bit) {
            const bool is_set = o[1].value >> bit & 1;
            const unsigned lanes = __ballot_sync(~0u, is_set);
            same &= is_set ? lanes : ~lanes;
        }
        *(unsigned *)o[0].at = same;
    } else if (is("barrier.cluster.arrive")) {
        emulated_arrive();
    } else if (is("barrier.cluster.wait")) {
        while (emulated_here->cluster->generation.load() == emulated_here->thread[threadIdx.x].cluster_phase)
            emulated_switch();
    } else if (*text && !is("griddepcontrol.wait") && !is("prefetch.global") && !is("cp.async.wait_all") &&
               !is("cp.async.commit_group") && !is("cp.async.wait_group") && !is("fence.mbarrier_init")) {
        fprintf(stderr, "emulated_cuda.h knows nothing of %s\n", text);
        abort();
    }
}
template <class... O> static void emulated_asm(const char *text, O &&...operands)
{
    const emulated_operand list[] = {emulated_operand_of(operands)..., {nullptr, 0}};
    emulated_do(text, list);
}

// ---- launches ----

static void (*emulated_kernel)(const void *arguments);
static thread_local const void *emulated_arguments;

static void emulated_start()
{
    threadIdx.x = emulated_here->current;
    emulated_kernel(emulated_arguments);
    emulated_here->thread[emulated_here->current].is_done = true;
    emulated_switch();
}

enum { emulated_stack = 64 << 10 };

static void emulated_run_block(emulated_cluster *cluster, unsigned rank, unsigned number,
                               const unsigned *grid, unsigned threads, const void *arguments, char *stacks)
{
    emulated_block b;
    b.thread.resize(threads);
    b.warp.resize(threads / 32);
    b.part_of_warp.resize(threads / 32);
    b.slot.resize(threads);
    b.rank = rank;
    b.cluster = cluster;
    emulated_here = &b;
    emulated_arguments = arguments;
    blockIdx = {number % grid[0], number / grid[0] % grid[1], number / grid[0] / grid[1]};
    blockDim = {threads, 1, 1};
    gridDim = {grid[0], grid[1], grid[2]};
    for (unsigned t = 0; t < threads; ++t) {
        getcontext(&b.thread[t].context);
        b.thread[t].context.uc_stack.ss_sp = stacks + (size_t)t * emulated_stack;
        b.thread[t].context.uc_stack.ss_size = emulated_stack;
        b.thread[t].context.uc_link = nullptr;
        makecontext(&b.thread[t].context, emulated_start, 0);
    }
    for (volatile bool some = true; some;) {
        some = false;
        for (volatile unsigned t = 0; t < threads; t = t + 1) {
            if (b.thread[t].is_done)
                continue;
            some = true;
            b.current = t;
            if (__builtin_setjmp(b.scheduler) != 0)
                continue;
            if (b.thread[t].has_begun)
                emulated_jump(b.thread[t].place);
            b.thread[t].has_begun = true;
            setcontext(&b.thread[t].context);
        }
        if (cluster->threads > threads)
            sched_yield();
    }
}

// Clusters one after the other; each of their blocks has a thread of the system, so that its shared memory is
// its own.
extern "C" __attribute__((visibility("default"))) void
emulated_launch(const void *arguments, const unsigned *grid, unsigned threads, unsigned cluster)
{
    std::vector<emulated_cluster> clusters((size_t)grid[0] * grid[1] * grid[2] / cluster);
    std::vector<std::thread> running;
    std::atomic<unsigned> ready{0};
    for (unsigned rank = 0; rank < cluster; ++rank)
        running.emplace_back([&, rank] {
            char *const stacks = (char *)malloc((size_t)threads * emulated_stack);
            for (auto &c : clusters) {
                c.threads = threads * cluster;
                c.base[rank] = &emulated_base;
            }
            ++ready;
            while (ready.load() < cluster)
                sched_yield();
            for (unsigned k = 0; k < clusters.size(); ++k)
                emulated_run_block(&clusters[k], rank, k * cluster + rank, grid, threads, arguments, stacks);
            free(stacks);
        });
    for (auto &r : running)
        r.join();
}
