// Parts of the passes of sorts, of tallies and of selections on the host: emit_host_sort.c, emit_host_tally.c, emit_host_select.c. Element kn_k of a chunk.
#inline dense kn_${name}_run[kn_k]
#inline stepped *(${const}${type} *)((${const}char *)kn_${name}_run + kn_k * kn.axis[0].stride[${array}])
#inline in_row kn_here.at[${array}] + kn_k * kn.axis[0].stride[${array}]
#inline anywhere *(${const}${type} *)((${const}char *)kn.${name}_ + kn_from.at[${array}])
#inline from_row kn_from.at[${array}]

#part run_pointer
${const}${type} *const kn_${name}_run = (${const}${type} *)((${const}char *)kn.${name}_ + kn_here.at[${array}]);

#part move_in_row
for (int kn_o = 0; kn_o < ${operands}; ++kn_o)
    kn_here.at[kn_o] += kn_first * kn.axis[0].stride[kn_o];

#part go_along
kn_place kn_from = kn_here;
kn_move(kn_from, kn, 0, kn.reduction_rank, kn_first + kn_k);

#part capacity
kn_fit = ${name}.size() - kn_before < kn_fit ? ${name}.size() - kn_before : kn_fit;

#part within
if (kn_before + kn_s + 1 > ${name}.size())
    __builtin_unreachable();

#part not_last
if (${index} + 1 == _in_ind.size())
    __builtin_unreachable();
