// needs: kn_await
extern "C" int sched_yield(void);

// Until so many are there.
static inline void kn_await(const unsigned *kn_counter, const unsigned kn_wanted)
{
    for (int kn_turn = 0; __atomic_load_n(kn_counter, __ATOMIC_ACQUIRE) < kn_wanted; ++kn_turn) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
        if (kn_turn > 1000)
            sched_yield();
    }
}
