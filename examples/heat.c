/*
 * heat.c - heat that spreads over a picture: each pixel moves towards its neighbours, again and again.
 */
#include <kiln/kiln.h>
#include <stdio.h>

static const char *const spread =
    "const auto at = _ind.get(); const int r = at[0], c = at[1], h = t.shape()[0], w = t.shape()[1];"
    "const auto around = t(max(r - 1, 0), c, at[2]) + t(min(r + 1, h - 1), c, at[2]) +"
    "                    t(r, max(c - 1, 0), at[2]) + t(r, min(c + 1, w - 1), at[2]);"
    "next = t(r, c, at[2]) + k * (around - 4 * t(r, c, at[2]))";

int main(void)
{
    kiln_array *picture = NULL, *t = NULL, *next = NULL, *spread_out = NULL;
    kiln_status status = kiln_array_load(&picture, "hubble_deep_field.npy", KILN_DEVICE_DEFAULT);
    if (!status && !(status = kiln_array_astype(&t, picture, KILN_FLOAT32)))
        status = kiln_array_empty_like(&next, t);
    for (int step = 0; step < 100 && !status; step++) {
        kiln_array *before = t;
        status = kiln_map_with(kiln_outs(&next), "raw T t, T k", "T next", spread, kiln_args(t, 0.2), NULL);
        t = next, next = before;
    }
    if (!status && !(status = kiln_array_astype(&spread_out, t, KILN_UINT8)) &&
        !(status = kiln_array_save(spread_out, "heat.ppm")))
        status = kiln_array_print(spread_out);
    if (status)
        fprintf(stderr, "%s\n", kiln_error_message());
    kiln_array *const all[] = {picture, t, next, spread_out};
    for (int k = 0; k < 4; k++)
        kiln_array_free(all[k]);
    return status != KILN_OK;
}
