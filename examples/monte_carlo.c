/*
 * monte_carlo.c - pi by the share of random points that lie within a circle: a reduction whose texts draw the
 * points. One kernel, which reads nothing; both targets, and any shape of a launch, draw the same points.
 *
 *     example_monte_carlo [POINTS [SEED]]
 */
#include <kiln/kiln.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A number has a key and an element's number: two coordinates of a point have two keys. */
static const char within[] = "hypot(random<float>(key, i), random<float>(key + 1, i)) < 1";

int main(int argc, char **argv)
{
    const double points = argc > 1 ? atof(argv[1]) : 1e7;
    const kiln_arg key = kiln_arg_uint(argc > 2 ? strtoull(argv[2], NULL, 0) : 1);
    kiln_kernel *count = NULL;
    kiln_array *out = NULL;
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    int64_t inside = 0;
    options.size = (int64_t)points; /* no array says how many elements there are */
    kiln_status status = kiln_reduction_create(&count, "uint64 key", "int64 inside", within, "a + b",
                                               "inside = a", "0", "points_within", NULL);
    if (status == KILN_OK)
        status = kiln_kernel_call(count, &out, 1, &key, 1, &options);
    if (status == KILN_OK)
        status = kiln_array_to_host(out, &inside, sizeof inside);
    if (status != KILN_OK) {
        fprintf(stderr, "%s\n%s\n", kiln_error_message(), kiln_error_log());
        return 1;
    }
    kiln_array_free(out);
    kiln_kernel_free(count);
    const double share = (double)inside / points, error = 4 * sqrt(share * (1 - share) / points);
    printf("pi is %.5f +- %.5f\n", 4 * share, error);
    return fabs(4 * share - 3.14159265) > 5 * error;
}
