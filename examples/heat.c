/*
 * heat.c - heat that spreads over a picture: each pixel moves towards its neighbours, again and again.
 */
#include <kiln/kiln.h>
#include <stdio.h>

static const char *const spread =
    "const auto at = _ind.get(); const int r = at[0], c = at[1], h = t.shape()[0], w = t.shape()[1];"
    "next = t(r, c) + k * (t(max(r - 1, 0), c) + t(min(r + 1, h - 1), c) + t(r, max(c - 1, 0)) +"
    "                      t(r, min(c + 1, w - 1)) - 4 * t(r, c))";

static kiln_status run(kiln_array **t, kiln_array **next, int steps)
{
    kiln_status status = KILN_OK;
    for (int k = 0; k < steps && status == KILN_OK; k++) {
        const kiln_arg in[] = {kiln_arg_array(*t), kiln_arg_float(0.2)};
        kiln_array *before = *t;
        status = kiln_map(next, 1, "raw T t, T k", "T next", spread, in, 2);
        *t = *next, *next = before;
    }
    return status;
}

int main(void)
{
    kiln_array *t = NULL, *hot = NULL, *next = NULL;
    const float degrees = 100;
    kiln_status status = kiln_array_zeros(&t, KILN_FLOAT32, KILN_SHAPE(5, 7), KILN_DEVICE_DEFAULT);
    if (!status && !(status = kiln_array_empty_like(&next, t)) &&
        !(status = kiln_array_index(&hot, t, "1:3, 2:4")))
        status = kiln_array_fill(hot, &degrees);
    if (!status && !(status = run(&t, &next, 20)))
        status = kiln_array_print(t);
    if (status)
        fprintf(stderr, "%s\n", kiln_error_message());
    kiln_array_free(hot);
    kiln_array_free(next);
    kiln_array_free(t);
    return status != KILN_OK;
}
