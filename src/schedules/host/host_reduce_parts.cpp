// Parts of the host's reductions: emit_host_reduce.c. Lane k of step j, from the first element of a series of steps on.
#inline lane_shared (*((const ${type} *)((const char *)kn.${name}_ + kn_row.at[${array}] + kn_j * kn_down.at[${array}])))
#inline lane_along (*((const ${type} *)((const char *)kn.${name}_ + kn_row.at[${array}] + kn_j * kn_down.at[${array}] + kn_k * kn_along.at[${array}])))
#inline dense_lane ((const ${type} *)((const char *)kn.${name}_ + kn_row.at[${array}] + kn_j * kn_down.at[${array}]))[kn_k]
#inline apart_lane ((const ${type} *)((const char *)kn.${name}_ + kn_row.at[${array}] + kn_j * kn_down.at[${array}]))[${step} * kn_k]
#inline apart_lane_of_row ((const ${type} *)((const char *)kn.${name}_ + kn_row.at[${array}]))[${step} * (kn_j * kn_lanes + kn_k)]
#inline dense_lane_of_row ((const ${type} *)((const char *)kn.${name}_ + kn_row.at[${array}]))[kn_j * kn_lanes + kn_k]

// Result k, from the first one on, or an input with one element for each result.
#inline result (*((${const}${type} *)((${const}char *)kn.${name}_ + kn_here.at[${array}] + kn_k * kn_beside.at[${array}])))
#inline dense_result ((${const}${type} *)((${const}char *)kn.${name}_ + kn_here.at[${array}]))[kn_k]

// The indices of the element; if elements come in their order, the reduction's counts up from the first one.
#inline first_index kn.reduction_start + kn_row.at[${array}]
#inline index_along kn.${start} + kn_row.at[${array}] + kn_j * kn_down.at[${array}] + kn_k * kn_along.at[${array}]
#inline index_in_order kn_order.is ? kn.reduction_start + kn_row.at[${array}] + kn_j * kn_down.at[${array}] : ${otherwise}
#inline index_of_block kn_order.is ? kn_block : ${otherwise}
#inline index_in_group kn_first_index[kn_k] + (${index})(${otherwise})
#inline index_in_group_quick ${otherwise} + kn_k / kn.width * kn.axis[0].stride[${array}]
#inline index_of_lane_in_order kn_order.is ? kn_first_index[kn_k] + (int)kn_j * kn_lanes : ${otherwise}

#part empty
if (!kn_some)
    ${value} = kn_${label}_identity;

// A loop over the lanes. Of functions: a loop of eight would be written out, with a call for each lane.
#part independent
KN_INDEPENDENT

#part calling
KN_INDEPENDENT
KN_ROLLED

#part extreme
kn_extreme_of<${value_type}>()
