// What CUDA has of the C library in device code.
// needs: printf memcpy memset memmove assert __trap __nanosleep __builtin_assume __assume

extern "C" int printf(const char *, ...);
extern "C" void *memcpy(void *, const void *, size_t) noexcept;
extern "C" void *memset(void *, int, size_t) noexcept;
extern "C" void *memmove(void *, const void *, size_t) noexcept;

#ifndef assert
#define assert(condition) ((condition) ? (void)0 : __builtin_trap())
#endif
#ifndef __clang__
#define __builtin_assume(condition) ((condition) ? (void)0 : __builtin_unreachable())
#endif
#define __assume(condition) __builtin_assume(condition)

[[noreturn]] inline void __trap() { __builtin_trap(); }
inline void __nanosleep(unsigned int) {}
