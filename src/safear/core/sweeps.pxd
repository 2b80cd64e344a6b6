cimport cython

from safear.core.arrays cimport INF, NONE, Arrays, fill_wholes, make_reals, make_table, make_wholes
from safear.core.exponentials cimport find_entropic
from safear.core.figures cimport carry_back, describe

cdef double NAN
cdef long long NEVER
cdef double ROUNDING

cdef class Deviation:
    cdef double risk_aversion
    cdef bint upper_only
    cdef const double[::1] rise, fall

cpdef void weigh_two_outcomes(
    Arrays arrays, long long count, double risk_aversion, bint upper_only, double[::1] rise, double[::1] fall
) noexcept nogil

@cython.locals(needed='short[:, ::1]')
cpdef count_steps(Arrays arrays, const unsigned char[:, ::1] goal, long long horizon)

@cython.locals(nearer=short, before=short, ahead=short, found=bint)
cdef void lower_steps(Arrays arrays, short[:, ::1] needed) noexcept nogil

@cython.locals(
    better=bint, distance=double, left=short, least='double[2][64]', chosen='double[2][64]', mean='double[64]',
    squares='double[64]',
)
cpdef sweep_arrays(
    Arrays arrays, Deviation deviation, const unsigned char[:, ::1] goal, const short[:, ::1] needed,
    double failure_cost, double tie, unsigned char[:, :, ::1] choices,
)

cpdef sweep_single(
    Arrays arrays, Deviation deviation, const unsigned char[::1] goal, const short[::1] needed,
    double failure_cost, double tie, unsigned char[:, ::1] choices,
)

@cython.locals(mean=double, squares=double, chosen=int)
cdef void sweep_lane(
    Arrays arrays, Deviation deviation, const unsigned char[::1] goal, const short[::1] needed,
    double failure_cost, double tie, unsigned char[:, ::1] choices, double[::1] later, double[::1] now,
) noexcept nogil

cdef class Ranges:
    cdef const double[::1] low, high
    cdef bint is_given
    cdef double[::1] value, second, chance
    cdef long long[::1] order

@cython.locals(left=double, place=cython.longlong, i=cython.longlong, is_equal=bint)
cdef void find_worst(Ranges ranges, long long first, long long count) noexcept nogil
@cython.locals(p=double, q=double)
cdef void find_end(Ranges ranges, long long first, bint is_first) noexcept nogil

cdef class Backward:
    cdef Arrays arrays
    cdef Ranges ranges
    cdef const long long[::1] late
    cdef double paid, aversion, tie, slack
    cdef const unsigned char[:, ::1] allowed
    cdef unsigned char[:, ::1] choices, keeps
    cdef double[:, ::1] chances

@cython.locals(
    arrays=Arrays, ranges=Ranges, is_plain=bint, is_free=bint, tie=double, scores="double[::1]", score=double, least=double, chosen=int,
)
cpdef sweep_back(Backward backward, double[:, ::1] values, long long begin, long long end)
@cython.locals(total=double)
cdef double weigh_row(
    Backward backward, Arrays arrays, Ranges ranges, long long row, double[:, ::1] values, long long later
) noexcept nogil

@cython.locals(first=cython.longlong, last=cython.longlong, bound=cython.longlong, total=cython.longlong, is_limited=bint)
cpdef bound_totals(
    Arrays arrays, const double[::1] possible, const long long[::1] depth, const long long[::1] late,
    const unsigned char[:, ::1] choices, bint is_most, long long[:, ::1] totals, long long horizon,
)

cpdef summarise_costs(
    Arrays arrays, const unsigned char[:, ::1] goal, const unsigned char[:, :, ::1] choices, long long width,
    double level, double tolerance, double[:, :, ::1] figures,
)

@cython.locals(width=cython.longlong, success=double, changed=double, moved=double, chance=double)
cpdef summarise_ends(
    Arrays arrays, const unsigned char[:, ::1] goal, const unsigned char[:, :, ::1] choices,
    const short[:, ::1] codes, const long long[::1] sizes, const unsigned char[::1] ordered, double[:, :, ::1] figures,
)

cpdef find_highest_success(Arrays arrays, const unsigned char[:, ::1] goal, long long horizon)
