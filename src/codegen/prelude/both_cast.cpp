// needs: kn_cast_bits
// The bits of a value as one of another type and the same size.
template <class To, class From> static __device__ __forceinline__ To kn_cast_bits(const From &x) {
    To to;
#ifdef __CUDACC_RTC__
    memcpy(&to, &x, sizeof to);
#else
    __builtin_memcpy(&to, &x, sizeof to);
#endif
    return to;
}
