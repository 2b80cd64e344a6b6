cimport cython

from safear.core.arrays cimport INF, NONE, Arrays, fill_wholes, make_reals, make_table, make_wholes
from safear.core.figures cimport carry_back, describe

cdef double NAN

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

@cython.locals(cost=double, wins=double)
cpdef sweep_ahead(Arrays arrays, const unsigned char[:, ::1] acts, double[:, ::1] mean, double[:, ::1] success)

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
