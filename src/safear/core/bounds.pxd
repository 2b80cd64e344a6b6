cimport cython

from safear.core.arrays cimport make_reals, make_wholes
from safear.core.sketches cimport (
    BEGIN, ENDED, FINISH, FOLLOWING, LEAST_MEAN, MOST_SUCCESS, ROW, RULES, SINCE, SPENT, STATE, STEP, TAKEN, VALUE, WON,
    SearchGround, Sketches,
)

cdef double ROUNDING

cpdef enum:
    MEAN = 0
    CVAR = 1
    MEAN_CVAR = 2
    ENTROPIC = 3
    OTHER = 4

@cython.final
cdef class Aim:
    cdef int kind
    cdef double parameter
    cdef double level
    cdef double value
    cdef double mean
    cdef double tail
    cdef double success
    cdef double grain
    cdef double rare

    cdef double find_value(self, double mean, double tail, double entropic) noexcept nogil
    cdef bint allows(self, double success, double mean) noexcept nogil

cdef bint is_within(double own, double most) noexcept nogil

@cython.locals(beyond=double, excess=double, more=double, same=double, higher=double)
cpdef double find_cvar(double[::1] values, double[::1] chances, double level) noexcept nogil
cdef double find_largest(const double[::1] values) noexcept nogil
cdef void swap(double[::1] values, double[::1] chances, long long one, long long other) noexcept nogil
@cython.locals(mass=double, below=double)
cpdef double find_entropic(const double[::1] values, const double[::1] chances, double aversion) noexcept nogil

@cython.final
cdef class Looker:
    cdef SearchGround ground
    cdef Aim aim
    cdef Sketches sketches
    cdef double[::1] values
    cdef double[::1] chances
    cdef long long[::1] rows
    cdef long long[::1] states
    cdef long long n_rows
    cdef long long n_states

    cdef int look(self, long long number) except -1 nogil
    @cython.locals(values="double[::1]", chances="double[::1]", total=double, mean=double, is_entropic=bint)
    cdef int bound_runs(self, long long number) except -1 nogil
    @cython.locals(success=double)
    cdef double find_ends(
        self, long long begin, long long ended, double[::1] values, double[::1] chances
    ) noexcept nogil
    @cython.locals(following=cython.longlong, often=double, in_time=bint, most=double)
    cdef long long list_waiting(self, long long number) noexcept nogil
    cdef void list_told(self, long long number) noexcept nogil
    @cython.locals(count=cython.longlong, joins=bint)
    cdef long long count_least(self) noexcept nogil
    cdef bint has_just_worked(self, long long state, long long action) noexcept nogil
