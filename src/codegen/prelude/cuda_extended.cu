// needs: kn_extended
// NVRTC 13.0 takes the first of four signed bytes of a word for extended where it is not: of `signed char t = -x` it then compares 16 bits, the second byte among
// them. What an instruction of one's own has extended it does extend again.
__device__ __forceinline__ signed char kn_extended(signed char x) {
    int whole;
    asm("cvt.s32.s8 %0, %1;" : "=r"(whole) : "r"((int)x));
    return (signed char)whole;
}
