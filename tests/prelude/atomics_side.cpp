// Atomics as kernels see them.
#include "prelude/host_base.cpp"
#include "prelude/both_real.cpp"
#include "prelude/host_half.cpp"
#include "prelude/host_bfloat16.cpp"
#include "prelude/host_atomics.cpp"
#include "prelude/host_loads.cpp"

struct counters {
    int i, least, most, bits_or, bits_and, bits_xor;
    unsigned int u, wrapped, unwrapped;
    long long l;
    unsigned long long ul, taken;
    float f, f_least, f_most;
    double d, d_most;
    float16 h;
    bfloat16 b;
};

// The work of each of several threads, with a number of its own.
extern "C" void kiln_hammer(counters *c, int thread, int rounds)
{
    for (int k = 0; k < rounds; ++k) {
        int own = thread * rounds + k;
        atomicAdd(&c->i, 2);
        atomicSub(&c->i, 1);
        atomicMin(&c->least, -own);
        atomicMax(&c->most, own);
        atomicOr(&c->bits_or, 1 << thread);
        atomicAnd(&c->bits_and, ~(1 << thread));
        atomicXor(&c->bits_xor, own);
        atomicAdd(&c->u, 1u);
        atomicInc(&c->wrapped, 6);
        atomicDec(&c->unwrapped, 6);
        atomicAdd(&c->l, -1);
        atomicAdd_system(&c->ul, 3);
        atomicAdd(&c->f, 1);
        atomicMin(&c->f_least, -own);
        atomicMax_block(&c->f_most, __ldg(&own));
        atomicAdd(&c->d, 0.5);
        atomicMax(&c->d_most, own);
        if (k < 8) {
            atomicAdd(&c->h, (float16)1);
            atomicAdd(&c->b, (bfloat16)1);
        }
        for (unsigned long long seen = c->taken, old;
             (old = atomicCAS(&c->taken, seen, seen + 1)) != seen; seen = old) {
        }
    }
    __threadfence();
}

extern "C" void kiln_read_halves(const counters *c, float out[2])
{
    out[0] = c->h, out[1] = c->b;
}

extern "C" int kiln_exchange(int *p, int x)
{
    int loaded = __ldcg(p);
    __stcs(p, loaded + 1);
    return atomicExch(p, x) == loaded + 1 ? loaded : -1;
}
