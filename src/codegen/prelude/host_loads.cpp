// CUDA's loads and stores with a hint for the caches, which hosts do without.
// needs: __ldca __ldcg __ldcs __ldcv __ldg __ldlu __stcg __stcs __stwb __stwt

template <class T> inline T __ldg(const T *p) { return *p; }
template <class T> inline T __ldca(const T *p) { return *p; }
template <class T> inline T __ldcg(const T *p) { return *p; }
template <class T> inline T __ldcs(const T *p) { return *p; }
template <class T> inline T __ldlu(const T *p) { return *p; }
template <class T> inline T __ldcv(const T *p) { return *p; }

template <class T> struct kn_stored { typedef T type; };
template <class T> inline void __stwb(T *p, typename kn_stored<T>::type x) { *p = x; }
template <class T> inline void __stcg(T *p, typename kn_stored<T>::type x) { *p = x; }
template <class T> inline void __stcs(T *p, typename kn_stored<T>::type x) { *p = x; }
template <class T> inline void __stwt(T *p, typename kn_stored<T>::type x) { *p = x; }
