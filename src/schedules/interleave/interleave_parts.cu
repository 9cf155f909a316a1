// Parts of the templates of this family. channels.cu (emit_channels.c): addresses and elements.
#inline position (${const}char *)kn.${name}_ + kn_here.at[${array}]
#inline position_of_last ((${const}char *)kn.${name}_ + kn_here.at[${array}] - (${channels} - 1) * (int)sizeof(${type}))
#inline channel (${const}char *)kn.${name}_ + kn_here.at[${array}] + (long long)kn_c * kn_axis_c.stride[${array}]
#inline single *(${const}${type} *)(${channel})
#inline lane_interleaved kn_${name}_.at[kn_k * ${channels} + kn_c]
#inline lane_backward kn_${name}_.at[kn_k * ${channels} + (${channels} - 1 - kn_c)]
#inline lane_broadcast kn_${name}_[kn_c]
#inline lane_planar kn_${name}_[kn_c].at[kn_k]

#part load_interleaved
${const}auto kn_${name}_ = kn_load_series<${type}, ${elements}, ${word}>(${position});

#part load_broadcast
${type} kn_${name}_[${channels}];
#pragma unroll
for (int kn_c = 0; kn_c < ${channels}; ++kn_c)
    kn_${name}_[kn_c] = *(const ${type} *)(${channel});

#part load_planar
kn_pack<${type}, ${vector}> kn_${name}_[${channels}];
#pragma unroll
for (int kn_c = 0; kn_c < ${channels}; ++kn_c)
    kn_${name}_[kn_c] = kn_load<${type}, ${vector}>((const ${type} *)(${channel}));

#part gather_planar
kn_pack<${type}, ${vector}> kn_${name}_[${channels}];
kn_load_planar(kn_${name}_, ${position}, kn_axis_p.stride[${array}], kn_axis_c.stride[${array}]);

// Results.
#part staged
__shared__ __align__(16) char kn_${name}_staged[${bytes}];

#part store_interleaved
kn_stage_part<${type}, ${elements}>(kn_${name}_staged + threadIdx.x * ${bytes}, kn_${name}_.at);
__syncwarp(kn_full);
kn_store_run<${type}, ${bytes}>(${position}, kn_${name}_staged + threadIdx.x / 32 * ${bytes_of_warp}, kn_${name}_run);

#part store_planar
#pragma unroll
for (int kn_c = 0; kn_c < ${channels}; ++kn_c)
    kn_store((${type} *)(${channel}), kn_${name}_[kn_c]);

#part stage_planar
#pragma unroll
for (int kn_c = 0; kn_c < ${channels}; ++kn_c)
    kn_stage_part<${type}, ${vector}>(kn_${name}_staged + kn_c * ${bytes_of_block} + threadIdx.x * ${bytes}, kn_${name}_[kn_c].at);

// `count` parts of each channel from shared memory.
#part store_staged_parts
#pragma unroll 1
    for (int kn_j = threadIdx.x; kn_j < ${channels} * ${count}; kn_j += blockDim.x) {
        const int kn_c = kn_j / ${count};
        ${function}((${type} *)((char *)kn.${name}_ + kn_corner.at[${array}] + (long long)kn_c * kn_axis_c.stride[${array}]), kn_${name}_staged + kn_c * ${bytes_of_block}, kn_bytes, kn_j - kn_c * ${count});
    }

#part store_staged
{
    const int kn_bytes = kn_whole * ${bytes}, kn_chunks = kn_bytes / 16;
${chunks}
${ends}
}

#part full
const unsigned kn_full = __ballot_sync(~0u, ${vector} <= kn_left);

#part together
const kn_together kn_${name}_run = kn_find_together(kn_here.at[${array}] - (int)(threadIdx.x % 32) * ${bytes}, kn_full);

// The table of results.
#inline entry_of_result kn_${name}_table[kn_j]
#inline entry_of_channel *(const ${type} *)((const char *)kn.${name}_ + (long long)kn_c * kn_axis_c.stride[${array}])
#inline entry_of_byte (${type})(kn_j & ${mask})
#part table_of_result
__shared__ __align__(16) char kn_${name}_entries[${bytes}];
${type} *const kn_${name}_table = (${type} *)kn_${name}_entries;

#part fill_table
#pragma unroll 1
for (int kn_j = threadIdx.x; kn_j < ${all}; kn_j += blockDim.x) {
    const int kn_c = kn_j / ${each};
${call}
}
__syncthreads();

#part look_up
${to} = kn_${name}_table[kn_c * ${each} + (unsigned char)(${from})];

// A thread's part.
#part left_of_part
const int kn_left = kn_part < kn.size ? (int)(kn_axis_p.extent - kn_here.inner * ${vector}) : 0;

#part left_in_block
const kn_place kn_corner = kn_here;
const int kn_left = (int)(kn_axis_p.extent - (kn_here.inner * blockDim.x + threadIdx.x) * ${vector});
kn_move(kn_here, kn_axis_p, threadIdx.x * ${vector});

#part whole_of_block
const int kn_rest = (int)(kn_axis_p.extent - kn_corner.inner * blockDim.x * ${vector}) / ${vector}, kn_whole = kn_rest < (int)blockDim.x ? kn_rest : (int)blockDim.x;
__syncthreads();

// interleaved.cu (emit_interleaved.c).
#inline place (${const}${type} *)((${const}char *)kn.${name}_ + kn_here.at[${array}])
#inline element_of kn_${name}_.at[kn_k * ${interleaved} + ${number}]
#part load_all
${const}auto kn_${name}_ = kn_load<${type}, ${elements}>(${place});

#part load_vector
${const}auto kn_${name}_ = kn_load_along<${type}, ${vector}>(${place}, kn.axis[0].stride[${array}]);

#part gather_vector
${const}auto kn_${name}_ = kn_gather_apart<${type}, ${vector}>((const char *)${place}, kn.axis[0].stride[${array}]);

#part store_all
kn_store(${place}, kn_${name}_);
