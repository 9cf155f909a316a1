${head}
struct kn_args {
    ${fields}
};

/* A thread takes every kn.toy_stride'th element, from the last one on. */
${begin}

    for (long long kn_at = kn.size - 1 - (long long)(blockIdx.x * ${block}u + threadIdx.x); kn_at >= 0; kn_at -= kn.toy_stride) {
        ${single}
    }
    ${after_loop}
}
