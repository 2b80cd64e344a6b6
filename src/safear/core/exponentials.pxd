cimport cython

from safear.core.arrays cimport INF

cdef double NEAR_ONE
cdef double LOG_2
cdef double LOG_2_HIGH
cdef double LOG_2_LOW
cdef const double[::1] EXP_TERMS
cdef const double[::1] LOG_TERMS

@cython.locals(total=double)
cdef double add_series(double x, const double[::1] terms) noexcept nogil
cdef (double, double) split_power(double x) noexcept nogil
cpdef double steady_exp(double x) noexcept nogil
@cython.locals(k=int)
cpdef double steady_expm1(double x) noexcept nogil
cpdef double steady_log1p(double y) noexcept nogil
@cython.locals(power=int, part=double)
cpdef double log_of(double mass, double below) noexcept nogil
@cython.locals(largest=double, mass=double, below=double)
cpdef double find_entropic(const double[::1] values, const double[::1] chances, double aversion) noexcept nogil
