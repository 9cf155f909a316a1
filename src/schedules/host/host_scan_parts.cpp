// Parts of the host's scans: emit_host_scan.c. Neighbour k of an array from a place on.
#inline one kn_${name}_one
#inline dense kn_${name}_run[kn_k]
#inline stepped *(${const}${type} *)((${const}char *)kn_${name}_run + kn_k * kn_${name}_step)
#inline neighbour kn_from.at[${array}] + kn_k * kn.axis[kn_inner].stride[${array}]

#part broadcast_element
const ${type} kn_${name}_one = *(const ${type} *)((const char *)kn.${name}_ + kn_from.at[${array}]);

#part run_pointer
${const}${type} *const kn_${name}_run = (${const}${type} *)((${const}char *)kn.${name}_ + kn_from.at[${array}]);

#part run_step
const long long kn_${name}_step = kn.axis[kn_inner].stride[${array}];
