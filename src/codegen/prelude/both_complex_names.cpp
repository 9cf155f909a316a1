// Complex numbers by the names of their dtypes, and by Thrust's.
// needs: complex64 complex128 thrust
// with: complex complex_math

typedef complex<float> complex64;
typedef complex<double> complex128;

// Where the text includes Thrust itself, its own declarations come before those of a directive.
namespace kn_thrust {
using ::complex;
using ::abs;
using ::acos;
using ::acosh;
using ::arg;
using ::asin;
using ::asinh;
using ::atan;
using ::atanh;
using ::conj;
using ::cos;
using ::cosh;
using ::exp;
using ::log;
using ::log10;
using ::norm;
using ::polar;
using ::pow;
using ::proj;
using ::sin;
using ::sinh;
using ::sqrt;
using ::tan;
using ::tanh;
}
namespace thrust {
using namespace kn_thrust;
}
