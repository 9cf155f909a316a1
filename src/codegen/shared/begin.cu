extern "C" __global__ void __launch_bounds__(${block}${blocks}) ${entry}(const __grid_constant__ kn_args kn)
{
    ${wait}
    ${values}
    ${loop_prep}
    ${element}
