// Parts of the templates of stencils: emit_stencil.c. Rows of results, which are `result` lines down.
#inline line_down  + ${lines} * kn_axis_y.stride[${array}]
#inline plane_down  + ${planes} * kn_axis_z.stride[${array}]
#inline bytes (${const}char *)kn.${name}_ + kn_here.at[${array}]${down}
#inline pointer (${const}${type} *)(${bytes})
#inline other kn_${name}_${result}.at[kn_k]
#inline index kn.start + kn_here.at[${arrays}] + kn_k * kn_axis_x.stride[${arrays}]${down}

#part load_row
const auto kn_${name}_${result} = kn_load_along<${type}, ${vector}>(${pointer}, kn_axis_x.stride[${array}]);

#part load_result
auto kn_${name}_${result} = kn_load<${type}, ${vector}>(${pointer});

#part store_result
kn_store(${pointer}, kn_${name}_${result});

// The same for unaligned rows.
#part load_some
const auto kn_${name}_${result} = kn_load_some_along<${type}, ${vector}>(${bytes}, kn_axis_x.stride[${array}], kn_count);

#part pack_result
kn_pack<${type}, ${vector}> kn_${name}_${result};

#part store_joined
kn_store_joined(${pointer}, kn_${name}_${result}, kn_column, kn_extent);

// Windows over two axes.
#inline element_of_window kn_row_${row}_${steps}.at[kn_k + ${column}]
#part window
const auto kn_row_${row}_${steps} = kn_load_window<${type}, ${columns}>((const char *)kn.${name}_ + kn_here.at[${array}]${down} - ${back});

#part some_of_window
const auto kn_row_${row}_${steps} = kn_load_some<${type}, ${columns}, ${more}>((const char *)kn.${name}_ + kn_here.at[${array}]${down} - ${back}, kn_count);

// Windows over three axes.
#inline window_address (const char *)kn.${name}_ + ${place}.at[${array}]${down} + ${forth}
#inline element_of_plane kn_window_${plane}_${line}.at[kn_k + ${column}]
#part load_raw
${auto}kn_raw_${plane}_${line} = kn_load_vectors<${type}, ${columns}>(${address});

#part window_of_plane
${auto}kn_window_${plane}_${line} = kn_window_of(kn_raw_${plane}_${line});

#part ask
    kn_ask(${address} + ${planes} * kn_axis_z.stride[${array}]);

#part ask_first
for (int kn_k = 2; kn_k <= ${ahead} && kn_k < kn_planes; ++kn_k) {
${lines}
}

#part ask_next
if (kn_p + ${after} < kn_planes) {
${lines}
}

#part next_window
kn_window_${plane}_${line} = kn_window_${next}_${line};
