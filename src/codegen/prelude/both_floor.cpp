// The quotient that is cut towards minus infinity, as NumPy's `//` has it; of integers by zero it is 0.
// needs: _floor_divide
// with: math

#define KN_FLOOR_DIVIDE(T, Unsigned)                                 \
    __device__ __forceinline__ T _floor_divide(T x, T y) {           \
        if (y == 0 || y == (T)-1)                                    \
            return y == 0 ? 0 : (T)(0 - (Unsigned)x);                \
        return x / y - (x % y != 0 && (x < 0) != (y < 0));           \
    }                                                                \
    __device__ __forceinline__ Unsigned _floor_divide(Unsigned x, Unsigned y) { return y == 0 ? 0 : x / y; }
KN_FLOOR_DIVIDE(int, unsigned int)
KN_FLOOR_DIVIDE(long, unsigned long)
KN_FLOOR_DIVIDE(long long, unsigned long long)

#define KN_FLOOR_DIVIDE_REAL(T)                                                     \
    __device__ __forceinline__ T _floor_divide(T x, T y) {                          \
        T rest = fmod(x, y), quotient = (x - rest) / y;                             \
        if (y == 0)                                                                 \
            return x / y;                                                           \
        if (rest != 0 && (rest < 0) != (y < 0))                                     \
            quotient -= 1;                                                          \
        if (quotient == 0)                                                          \
            return copysign((T)0, x / y);                                           \
        T floored = floor(quotient);                                                \
        return quotient - floored > (T)0.5 ? floored + 1 : floored;                 \
    }
KN_FLOOR_DIVIDE_REAL(float)
KN_FLOOR_DIVIDE_REAL(double)
