/*
 * heat_cpp.cpp - the same as heat.c in C++: heat that spreads over a picture. Errors are exceptions.
 */
#include <kiln/kiln.hpp>
#include <iostream>

int main()
{
    const char *const spread =
        "const auto at = _ind.get(); const int r = at[0], c = at[1], h = t.shape()[0], w = t.shape()[1];"
        "next = x + k * (t(max(r - 1, 0), c, at[2]) + t(min(r + 1, h - 1), c, at[2]) +"
        "                t(r, max(c - 1, 0), at[2]) + t(r, min(c + 1, w - 1), at[2]) - 4 * x)";
    kiln::array t = kiln::load("hubble_deep_field.npy").astype(KILN_FLOAT32);
    for (int step = 0; step < 100; step++)
        t = kiln::map("raw T t, T x, T k", "T next", spread, t, t, 0.2);
    t.astype(KILN_UINT8).save("heat_cpp.ppm");
    std::cout << t.astype(KILN_UINT8) << '\n';
}
