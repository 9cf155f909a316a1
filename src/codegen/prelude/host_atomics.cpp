// CUDA's atomic operations, real ones, because a host kernel runs in threads. They order nothing else, as
// CUDA's do; __threadfence does.
// needs: atomicAdd atomicAdd_block atomicAdd_system atomicAnd atomicAnd_block atomicAnd_system atomicCAS atomicDec
// needs: atomicDec_block atomicDec_system atomicExch atomicExch_block atomicExch_system atomicInc atomicInc_block
// needs: atomicInc_system atomicMax atomicMax_block atomicMax_system atomicMin atomicMin_block atomicMin_system
// needs: atomicOr atomicOr_block atomicOr_system atomicSub atomicSub_block atomicSub_system atomicXor atomicXor_block
// needs: atomicXor_system __threadfence __threadfence_block __threadfence_system

template <class T> struct kn_itself { typedef T type; };
template <class T> using kn_value = typename kn_itself<T>::type;

// Retries until no other thread came between; `next` is what follows from `old`. The result is the old value.
#define KN_ATOMIC(next)                                                                                \
    T old, new_value;                                                                                  \
    __atomic_load(p, &old, __ATOMIC_RELAXED);                                                          \
    do                                                                                                 \
        new_value = next;                                                                              \
    while (!__atomic_compare_exchange(p, &old, &new_value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)); \
    return old;

template <class T> inline T atomicAdd(T *p, kn_value<T> x) { KN_ATOMIC(old + x) }
template <class T> inline T atomicSub(T *p, kn_value<T> x) { KN_ATOMIC(old - x) }
template <class T> inline T atomicMin(T *p, kn_value<T> x) { KN_ATOMIC(x < old ? x : old) }
template <class T> inline T atomicMax(T *p, kn_value<T> x) { KN_ATOMIC(x > old ? x : old) }
template <class T> inline T atomicAnd(T *p, kn_value<T> x) { return __atomic_fetch_and(p, x, __ATOMIC_RELAXED); }
template <class T> inline T atomicOr(T *p, kn_value<T> x) { return __atomic_fetch_or(p, x, __ATOMIC_RELAXED); }
template <class T> inline T atomicXor(T *p, kn_value<T> x) { return __atomic_fetch_xor(p, x, __ATOMIC_RELAXED); }
template <class T> inline T atomicInc(T *p, kn_value<T> limit) { KN_ATOMIC(old >= limit ? 0 : old + 1) }
template <class T> inline T atomicDec(T *p, kn_value<T> limit) { KN_ATOMIC(old == 0 || old > limit ? limit : old - 1) }

template <class T> inline T atomicExch(T *p, kn_value<T> x) {
    T old;
    __atomic_exchange(p, &x, &old, __ATOMIC_RELAXED);
    return old;
}

template <class T> inline T atomicCAS(T *p, kn_value<T> expected, kn_value<T> x) {
    __atomic_compare_exchange(p, &expected, &x, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}

// Where there is an instruction for it.
#define KN_ATOMIC_INTEGER(T)                                                             \
    inline T atomicAdd(T *p, T x) { return __atomic_fetch_add(p, x, __ATOMIC_RELAXED); } \
    inline T atomicSub(T *p, T x) { return __atomic_fetch_sub(p, x, __ATOMIC_RELAXED); }
KN_ATOMIC_INTEGER(int)
KN_ATOMIC_INTEGER(unsigned int)
KN_ATOMIC_INTEGER(long)
KN_ATOMIC_INTEGER(unsigned long)
KN_ATOMIC_INTEGER(long long)
KN_ATOMIC_INTEGER(unsigned long long)

// One scope serves all on the host.
#define KN_SCOPES(name)                                                                  \
    template <class T> inline T name##_block(T *p, kn_value<T> x) { return name(p, x); } \
    template <class T> inline T name##_system(T *p, kn_value<T> x) { return name(p, x); }
KN_SCOPES(atomicAdd)
KN_SCOPES(atomicSub)
KN_SCOPES(atomicMin)
KN_SCOPES(atomicMax)
KN_SCOPES(atomicAnd)
KN_SCOPES(atomicOr)
KN_SCOPES(atomicXor)
KN_SCOPES(atomicExch)
KN_SCOPES(atomicInc)
KN_SCOPES(atomicDec)

inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __threadfence(); }
inline void __threadfence_system() { __threadfence(); }
