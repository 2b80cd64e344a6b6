cimport cython

from safear.core.arrays cimport (
    Arrays, PolicyArrays, choose_row, make_grid, make_reals, make_table, make_wholes, widen_reals, widen_wholes,
)

cdef int FEW
cdef double NAN

@cython.locals(begin=cython.longlong, end=cython.longlong, x=cython.longlong)
cpdef double[:, ::1] carry_back(
    Arrays arrays, const unsigned char[:, :, ::1] choices, long long lane, double[:, ::1] later, double[:, ::1] now,
    long long[::1] low, long long[::1] high,
)
cpdef clear_outside(double[:, ::1] mass, const long long[::1] low, const long long[::1] high)

@cython.locals(cumulated=double)
cdef long long quantile(const double[::1] mass, double total, double level, double tolerance) noexcept nogil

@cython.locals(
    total0=double, total1=double, total2=double, total3=double, total=double,
    weighted0=double, weighted1=double, weighted2=double, weighted3=double, weighted=double,
)
cdef (double, double) moments(const long long[::1] values, const double[::1] mass, long long first) noexcept nogil

@cython.locals(total0=double, total1=double, total2=double, total3=double, total=double)
cdef double squares(const long long[::1] values, const double[::1] mass, double centre) noexcept nogil

cpdef (double, double, double, double, double, double) describe(
    const long long[::1] values, const double[::1] mass, double level, double tolerance
) noexcept nogil

@cython.locals(total=double)
cpdef quantile_positions(const double[:, ::1] mass, double level, double tolerance)
cpdef moments_beyond(const long long[::1] values, const double[:, ::1] mass, const long long[::1] first)
cpdef centred_squares(const long long[::1] values, const double[:, ::1] mass, const double[::1] centre)

cdef int[::1] make_places(long long count) with gil

cdef class Room:
    cdef long long[::1] state
    cdef long long[::1] spent
    cdef double[::1] mass
    cdef long long[::1] next_state
    cdef long long[::1] next_spent
    cdef double[::1] next_mass
    cdef readonly long long[::1] end_state
    cdef readonly long long[::1] end_spent
    cdef readonly double[::1] end_mass
    cdef int[::1] table

cpdef long long follow(
    Arrays arrays, const unsigned char[::1] goal, long long horizon, PolicyArrays policy, long long start,
    long long opening, int[::1] table, long long width, long long most, Room room,
) except -1 nogil

@cython.locals(mixed=cython.ulonglong, mask=cython.ulonglong, slot=cython.ulonglong)
cdef long long find_place(
    const int[::1] table, long long width, const long long[::1] states, const long long[::1] totals,
    long long state, long long total,
) noexcept nogil

@cython.locals(state=cython.longlong, spent=cython.longlong, mass=double)
cpdef follow_all(
    Arrays arrays, const unsigned char[::1] goal, long long horizon, PolicyArrays policy, const long long[::1] starts,
    const long long[::1] opening, const double[:, ::1] levels, double[:, ::1] succeeded, double[:, ::1] failed,
    double[:, ::1] final,
)
