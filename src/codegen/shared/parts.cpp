// Parts that several kinds have: src/codegen/parts.c. An element, by its bytes from the start of the operand.
#inline at *(${const}${type} *)((${const}char *)kn.${name}_ + ${place}.at[${array}])
#inline lane kn_${name}_.at[kn_k]

// Vectors (vectors.c).
#inline step  + kn_m * ${axis}.stride[${array}]
#inline address (${const}${type} *)((${const}char *)kn.${name}_ + kn_here.at[${array}]${step})
#inline first kn.${name}_ + kn_first
#inline staged kn_${name}_tile + kn_transposed
#inline load kn_load<${type}, ${vector}>(${from})
#inline load_along kn_load_along<${type}, ${vector}>(${from}, ${axis}.stride[${array}])
#inline is_run ${axis}.stride[${array}] == ${size}
#inline stride , ${axis}.stride[${array}]
#inline crossing , (const char *)kn.${name}_ + kn_next.at[${array}], kn_left
#inline crossing_stride , (const char *)kn.${name}_ + kn_next.at[${array}], kn_left, ${axis}.stride[${array}]

#part pack
kn_pack<${type}, ${vector}> kn_${name}_;

#part words
kn_words<${words}> kn_${name}_words;

#part loaded
${const}auto kn_${name}_ = ${load};

#part store_first
kn_store(kn.${name}_ + kn_first, kn_${name}_);

#part address_of_result
${type} *const kn_${name}_to = ${address};

#part store
kn_store(kn_${name}_to, kn_${name}_);

#part indices
long long kn_i[${vector}];

#part gather
        kn_${name}_ = ${function}<${type}, ${vector}>((const char *)kn.${name}_ + kn_here.at[${array}]${more});

#part gather_words
        kn_${name}_words = kn_words_of(${function}<${type}, ${vector}>((const char *)kn.${name}_ + kn_here.at[${array}]${more}));

#part words_of_lanes
    kn_${name}_words = kn_words_of(kn_${name}_);

#part lanes_of_words
kn_${name}_ = kn_elements_of<${type}, ${vector}>(kn_${name}_words);

#part indices_in_row
#pragma unroll
    for (int kn_k = 0; kn_k < ${vector}; ++kn_k)
        kn_i[kn_k] = kn.start + kn_here.at[${arrays}] + kn_k * ${axis}.stride[${arrays}]${step};

#part gather_in_row
    if (${are_runs}) {
${runs}
    } else {
${apart}
    }

#part gather_apart
    {
${apart}
    }

#part gather_lane
        kn_${name}_.at[kn_k] = ${place};

#part index_of_lane
        kn_i[kn_k] = kn.start + kn_here.at[${arrays}];

#part block
{
${lines}
}

// The places of an element, in assembly (locate.c). The operands are the places, then steps, then the index.
#part steps
unsigned inner, second, outer; /* steps along the innermost axis, the next one, the outermost */

#part keep_steps
(a == 0 ? place.inner : a == 1 ? place.second : place.outer) = steps;
place.outer = steps;

#part move_place
place.at[${operand}] += axis.stride[${operand}] * (int)steps;

#inline locate_place ${separator}"=&r"(${place}.at[${operand}])
#part locate_zero
"mov.u32 %${operand}, 0;\n"

#part locate_move
"ld.param.s32 stride, [axis+${at}]; mad.lo.s32 %${operand}, stride, steps, %${operand};\n"

// The remainder of index / extent is the steps along this axis; the quotient is the index of the other axes.
#part locate_axis
"ld.param.u32 extent, [axis]; ld.param.u32 magic, [axis+4];\n"
"ld.param.u32 shift, [axis+8]; mul.hi.u32 rest, index, magic;\n"
"add.u32 rest, rest, index; shr.u32 rest, rest, shift;\n"
"mul.lo.u32 steps, rest, extent; sub.u32 steps, index, steps;\n"
"mov.u32 index, rest;\n"
${moves}
"add.u64 axis, axis, ${axis_size}; sub.u32 rank, rank, 1; setp.eq.u32 last, rank, 1;\n"

// An axis whose steps are a result too.
#part locate_first_axis
${one_axis}
"mov.u32 %${operand}, steps;\n"

// The rank, the first axis, the index, and places of 0. The argument block is read as the kernel's parameter, which PTX names after the
// entry; so it is loaded from constant memory even by an address that is not a constant.
#part locate_begin
asm("{ .reg .pred last; .reg .u32 index, rank, extent, magic, shift, rest, steps;\n"
".reg .s32 stride; .reg .u64 axis;\n"
"mov.u64 axis, ${entry}_param_0; ld.param.u32 rank, [axis+${rank_at}]; add.u64 axis, axis, ${axes_at};\n"
"mov.u32 index, %${index};\n"
${zeros}

// One loop over all axes, which compiles soonest. The last axis divides too, with quotient 0.
#part locate_places
${begin}
"add.u32 rank, rank, 1;\nMORE:"
${one_axis}
"@!last bra MORE; }"
${places} : "r"(index));

// The two innermost axes, whose steps are results too, come before the loop, and the last one needs no division: rows, which are the
// most frequent, take no iteration.
#part locate_places_and_steps
${begin}
"mov.u32 %${second}, 0; setp.eq.u32 last, rank, 1;\n"
"mov.u32 %${inner}, index; @last bra LAST;\n"
${one_axis}
"mov.u32 %${inner}, steps;\n"
"mov.u32 %${second}, index; @last bra LAST;\n"
${one_axis}
"mov.u32 %${second}, steps;\n"
"MORE: @last bra LAST;\n"
${one_axis}
"bra MORE;\nLAST: mov.u32 steps, index;\n"
${moves}
"mov.u32 %${outer}, index; }"
${places}, "=&r"(place.inner), "=&r"(place.second), "=&r"(place.outer) : "r"(index));

// A tile's corner, with the steps along its first axes; the other axes, if there are any, are a loop.
#part locate_corner
${begin}
"add.u32 rank, rank, 1;\n"
${first_axes}
"@last bra LAST;\nMORE:"
${one_axis}
"@!last bra MORE;\nLAST: }"
${places}, "=&r"(kn_step[0]), "=&r"(kn_step[1]), "=&r"(kn_step[2]), "=&r"(kn_step[3]) : "r"(kn_rest));

// Vectors that are transposed on their way to shared memory, in assembly (transposed_vectors.c).
#part transpose_load
"ld.global.${words} {${registers}}, [from]; add.s64 from, from, step;\n"

#part transpose_next_row
"sub.u32 left, left, 1; setp.eq.u32 ends, left, 0;\n"
"@ends add.s64 from, from, carry; @ends mov.u32 left, row;\n"

#part transpose_store
"st.shared.${words} [to], {${registers}}; add.u32 to, to, pitch;\n"

#part transpose_pick
"prmt.b32 t${to}, ${from}${one}, ${from}${two}, ${order};\n"

#part transpose_rows
".reg .b32 left, row; .reg .s64 carry; .reg .pred ends;\n"
"mov.b32 left, %4; mov.b32 row, %5; cvt.s64.s32 carry, %6;\n"

#inline transpose_row_operands , "r"(${left}), "r"(${row}), "r"(${carry})
#part transpose
asm volatile("{ .reg .b32 r<${loaded}>, t<${picked}>, to, pitch; .reg .s64 from, step;\n"
"mov.b64 from, %0; cvt.s64.s32 step, %1; mov.b32 to, %2; mov.b32 pitch, %3;\n"
${lines}
"}" :: "l"(${from}), "r"(${step}), "r"(${to}), "r"(${pitch})${row_operands} : "memory");

// Values of a kernel (codegen.c).
#part raw
const kn_raw<${constness}${c_name}, ${raw_rank}, ${is_contiguous}> ${name} = {kn.${name}_};

#part checked
const kn_checked<${constness}${c_name}, ${raw_rank}, ${is_contiguous}, ${number}> ${name} = {kn.${name}_};

#part layout_check
static_assert(sizeof(kn_args) == ${bytes}, "the argument block");

#part count
const long long ${count} = kn.n;

#part sizes
struct kn_sizes { long long count; __device__ long long size() const { return count; } };
const kn_sizes _in_ind = {kn.n}, _out_ind = {kn.results};

#part value
const ${c_name} ${name} = kn.${name}_${is_set};

#part drawn
kn_drawn_block kn_drawn_${number};

#part typedef
typedef ${c_name} ${as};

#part struct_check
static_assert(sizeof(${c_name}) == ${bytes}, "'${name}' was given with ${bytes} bytes");

#part value_symbol_cuda
extern "C" { __device__ unsigned char ${symbol}[sizeof(${value_type})]; }

#part value_symbol_host
extern "C" { __attribute__((visibility("default"))) unsigned char ${symbol}[sizeof(${value_type})]; }

#part wait
kn_wait();

#part declaration
${value_type} ${value};

// Stages as functions, and calls of them (stage_functions.c). Lines up to "#line 0" are the user's.
#part user_statement
#line 1 "${kernel}${separator}${label}"
${text}
;
#line 0

#part user_expression
#line 1 "${kernel}${separator}${label}"
${text}
#line 0

#inline index kn.${start} + ${offset}

#part indexer
const kn_indexer _ind = {${count}, (int)kn.logical_rank, kn.logical};

#part indexer_of_rank
const kn_indexer_of<${rank}> _ind = {${count}, (int)kn.logical_rank, kn.logical, ${index}};

#part map
const auto ${function} = [&](${parameters})${inlining} {
    ${indexer}
${user}
};

#part map_with_continue
const auto ${function} = [&](${parameters})${inlining} {
    ${indexer}
    do {
${user}
    } while (0);
};

#part map_expression
const auto ${function} = [&](${parameters})${inlining} {
    ${indexer}
    ${given} = static_cast<${value_type}>(
${user}
    );
};

#part reduce
const auto kn_${label} = [&](const ${value_type} a, const ${value_type} b, const bool _follows = false)${inlining} -> ${value_type} {
    return
${user}
};

#part uncontracted
${function}(a, b);

#part identity
const ${value_type} kn_${label}_identity =
${user}

#part seen
${c_name} kn_${name}_seen = ${seen};

#part put_back
${place} = kn_${name}_seen;

#part put_back_bool
${place} = kn_${name}_seen != 0;

#part put_back_converted
${place} = static_cast<${type}>(kn_${name}_seen);

#part call
${before}
${function}(${arguments});
${after}

// A call of the loops of a host's baseline tier, and what their order is given.
#part loops
struct kn_call {
    ${call}
};
struct kn_loops {
    ${loops}
};
