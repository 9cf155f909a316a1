// CUDA's short vectors, aligned as there.
// needs: char1 char2 char3 char4 make_char1 make_char2 make_char3 make_char4 uchar1 uchar2 uchar3 uchar4
// needs: make_uchar1 make_uchar2 make_uchar3 make_uchar4 short1 short2 short3 short4 make_short1 make_short2
// needs: make_short3 make_short4 ushort1 ushort2 ushort3 ushort4 make_ushort1 make_ushort2 make_ushort3
// needs: make_ushort4 int1 int2 int3 int4 make_int1 make_int2 make_int3 make_int4 uint1 uint2 uint3 uint4
// needs: make_uint1 make_uint2 make_uint3 make_uint4 long1 long2 long3 long4 make_long1 make_long2 make_long3
// needs: make_long4 ulong1 ulong2 ulong3 ulong4 make_ulong1 make_ulong2 make_ulong3 make_ulong4 longlong1
// needs: longlong2 longlong3 longlong4 make_longlong1 make_longlong2 make_longlong3 make_longlong4 ulonglong1
// needs: ulonglong2 ulonglong3 ulonglong4 make_ulonglong1 make_ulonglong2 make_ulonglong3 make_ulonglong4
// needs: float1 float2 float3 float4 make_float1 make_float2 make_float3 make_float4 double1 double2 double3
// needs: double4 make_double1 make_double2 make_double3 make_double4

#define KN_VECTORS(name, T)                                                       \
    struct name##1 { T x; };                                                      \
    struct alignas(2 * sizeof(T)) name##2 { T x, y; };                            \
    struct name##3 { T x, y, z; };                                                \
    struct alignas(sizeof(T) < 4 ? 4 * sizeof(T) : 16) name##4 { T x, y, z, w; }; \
    inline name##1 make_##name##1(T x) { return {x}; }                            \
    inline name##2 make_##name##2(T x, T y) { return {x, y}; }                    \
    inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }            \
    inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
KN_VECTORS(char, signed char)
KN_VECTORS(uchar, unsigned char)
KN_VECTORS(short, short)
KN_VECTORS(ushort, unsigned short)
KN_VECTORS(int, int)
KN_VECTORS(uint, unsigned int)
KN_VECTORS(long, long)
KN_VECTORS(ulong, unsigned long)
KN_VECTORS(longlong, long long)
KN_VECTORS(ulonglong, unsigned long long)
KN_VECTORS(float, float)
KN_VECTORS(double, double)
