// The precision in which a function of T is computed: integers count as float64. float16 and bfloat16 say theirs themselves.
// needs: kn_real
template <class T> struct kn_real {};
template <> struct kn_real<bool> { typedef double type; };
template <> struct kn_real<char> { typedef double type; };
template <> struct kn_real<signed char> { typedef double type; };
template <> struct kn_real<unsigned char> { typedef double type; };
template <> struct kn_real<short> { typedef double type; };
template <> struct kn_real<unsigned short> { typedef double type; };
template <> struct kn_real<int> { typedef double type; };
template <> struct kn_real<unsigned int> { typedef double type; };
template <> struct kn_real<long> { typedef double type; };
template <> struct kn_real<unsigned long> { typedef double type; };
template <> struct kn_real<long long> { typedef double type; };
template <> struct kn_real<unsigned long long> { typedef double type; };
template <> struct kn_real<double> { typedef double type; };
template <> struct kn_real<float> { typedef float type; };
