// Sums and products that must not be contracted with those of other texts: the host's compilers contract none across
// statements, and within a statement all kernels alike.
// needs: kn_add kn_subtract kn_multiply kn_multiply_add kn_no_product

#define kn_no_product(x) (x)
#define kn_add(x, y) ((x) + (y))
#define kn_subtract(x, y) ((x) - (y))
#define kn_multiply(x, y) ((x) * (y))
#define kn_multiply_add(x, y, z) ((z) + (x) * (y))
