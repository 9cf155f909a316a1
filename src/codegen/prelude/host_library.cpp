// The functions of the C library that CUDA has in device code.
// needs: printf memcpy memset memmove assert __trap __nanosleep __builtin_assume __assume labs llabs nan nanf
// needs: llmax llmin ullmax ullmin umax umin

extern "C" int printf(const char *, ...);
extern "C" void *memcpy(void *, const void *, size_t) noexcept;
extern "C" void *memset(void *, int, size_t) noexcept;
extern "C" void *memmove(void *, const void *, size_t) noexcept;

extern "C" long labs(long) noexcept;
extern "C" long long llabs(long long) noexcept;
extern "C" double nan(const char *) noexcept;
extern "C" float nanf(const char *) noexcept;

inline long long llmax(long long x, long long y) { return x > y ? x : y; }
inline long long llmin(long long x, long long y) { return x < y ? x : y; }
inline unsigned long long ullmax(unsigned long long x, unsigned long long y) { return x > y ? x : y; }
inline unsigned long long ullmin(unsigned long long x, unsigned long long y) { return x < y ? x : y; }
inline unsigned umax(unsigned x, unsigned y) { return x > y ? x : y; }
inline unsigned umin(unsigned x, unsigned y) { return x < y ? x : y; }

#ifndef assert
#define assert(condition) ((condition) ? (void)0 : __builtin_trap())
#endif
#ifndef __clang__
#define __builtin_assume(condition) ((condition) ? (void)0 : __builtin_unreachable())
#endif
#define __assume(condition) __builtin_assume(condition)

[[noreturn]] inline void __trap() { __builtin_trap(); }
inline void __nanosleep(unsigned int) {}
