// outside.cpp - a small program of somebody else's in C++17: a kernel, its two results, an operator.
#include <kiln/kiln.hpp>

#include <iostream>

int main()
{
    try {
        const kiln::kernel bounds("T x", "T low, T high", "low = x - 1; high = x + 1", "bounds");
        const auto [low, high] = bounds.call<2>(kiln::array({1.f, 2.f, 3.f}, kiln::device::host()));
        const kiln::array product = low * high;
        std::cout << "kiln " << kiln_version() << ": " << product << '\n';
        return product.str() == "[0. 3. 8.]" ? 0 : 1;
    } catch (const kiln::error &e) {
        std::cerr << e.what() << '\n';
        return 1;
    }
}
