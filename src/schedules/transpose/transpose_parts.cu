// Parts of the templates of this family. tile.cu (emit_tile.c).
#inline stage_from (const char *)kn.${name}_ + kn_from.at[${array}]
#inline stage_to (unsigned)__cvta_generic_to_shared(kn_${name}_tile) + (kn_b * kn_pitch + kn_slot) * ${bytes}
#inline stage_step ${along}.stride[${array}]
#inline stage_carry kn_axis_p.stride[${array}] - (int)kn.p_narrow * kn_axis_p2.stride[${array}]
#inline next_tile ((char *)kn_shared${bytes})
#inline bytes_of_tile  + ((kn.p * kn.q * ${bytes} + 15) & ~15u)
#part tile_of
${type} *const kn_${name}_tile = (${type} *)${before};

#part stage
kn_stage(kn_${name}_tile, ${from}, ${step}, ${left}, ${row}, ${carry}, kn_pitch, kn_b, kn_slot);

#part stage_by_compiler
#ifdef __CUDACC_RTC__
${assembly}
#else
${call}
#endif

// windows.cu (emit_windows.c).
#inline take kn_take<${type}>(kn_transposed${beside})
#inline beside  + kn_${name}_beside
#part next_window
const unsigned kn_${name}_beside = kn_copy_input((const char *)kn.${name}_, (unsigned)__cvta_generic_to_shared(kn_shared) + ${number} * kn.tile) - kn_phase;

#part take_run
kn_${name}_ = kn_take_run<${type}, ${vector}>(kn_transposed${beside}, kn_transposed_on${beside}, kn_left, kn, kn_turn);

#part take_rows
kn_${name}_ = kn_take_rows<${type}, ${vector}>(kn_transposed, kn.pitch, kn_on, kn_left, kn_axis_p.extent);

#inline row_ends
        if (kn_k + 1 == kn_left) {

#inline short_row_ends
        if (--kn_left == 0) {
            kn_left = kn_axis_p.extent;

#inline gather_lanes
{
#pragma unroll
    for (int kn_k = 0; kn_k < ${vector}; ++kn_k) {
${lane}
        kn_move(kn_here, kn_axis_p, 1);
${row_ends}
            kn_move(kn_here, kn_axis_p, -kn_axis_p.extent);
            kn_move(kn_here, kn_axis_p2, 1);
        }
    }
${words}
}

#part gather_runs_or_lanes
if (${are_runs}) {
${runs}
} else ${lanes}

#part lanes_alone
${lanes}

// transpose_pairs.cu (emit_transpose_pairs.c).
#inline transposed_lane kn_transposed.at[kn_k]
#inline straight_lane kn_straight[kn_h][kn_j].at[kn_k]
#inline staged_from (const char *)kn.${name}_ + kn_from.at[${array}] + kn_j * kn_axis_q.stride[${array}]
#part result_to
${type} *const kn_${name}_to = (${type} *)((char *)kn.${name}_ + kn_here.at[${array}]);
auto kn_${name}_ = kn_load<${type}, ${vector}>(kn_${name}_to);
