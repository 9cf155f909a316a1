// A C++ program over the public headers: the plain functions, and kiln_call with its arguments one by one.
#include <kiln/kiln.h>

#include <cstdio>
#include <vector>

static bool failed(kiln_status status)
{
    if (status != KILN_OK)
        std::fprintf(stderr, "%s: %s\n", kiln_status_name(status), kiln_error_message());
    return status != KILN_OK;
}

int main()
{
    kiln_kernel *kernel = nullptr;
    kiln_array *x = nullptr, *z = nullptr;
    std::vector<float> back(1000);
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.preamble = "__device__ float twice(float x) { return 2 * x; }";
    if (failed(kiln_array_arange(&x, 0, 1000, 1, KILN_FLOAT32, KILN_DEVICE_DEFAULT)) ||
        failed(kiln_elementwise_create(&kernel, "T x, T y, int32 k", "T z", "z = twice(x) * y + k", "cpp",
                                       &options)) ||
        failed(kiln_call(kernel, &z, x, 0.5f, kiln_arg_int32(3))) ||
        failed(kiln_array_to_host(z, back.data(), back.size() * sizeof back[0])))
        return 1;
    kiln_array_free(z);
    kiln_array_free(x);
    kiln_kernel_free(kernel);
    for (int k = 0; k < 1000; k++)
        if (back[static_cast<size_t>(k)] != static_cast<float>(k + 3)) {
            std::fprintf(stderr, "element %d is %g\n", k, static_cast<double>(back[static_cast<size_t>(k)]));
            return 1;
        }
    std::puts("a C++ program calls kernels");
    return 0;
}
