cimport cython

from safear.core.arrays cimport Arrays, PolicyArrays, choose_row, make_grid, make_table, sort_keys
from safear.core.sweeps cimport Ranges, find_worst

cdef int FEW
cdef int STEP
cdef int STATE
cdef int SPENT
cdef int ROW
cdef int ORIGIN
cdef int EDGE
cdef int TARGET

cdef class Cells:
    cdef readonly long long[::1] step
    cdef readonly long long[::1] state
    cdef readonly long long[::1] spent
    cdef readonly long long[::1] row
    cdef readonly double[::1] chance
    cdef readonly double[::1] weight

cdef class Moves:
    cdef readonly long long[::1] origin
    cdef readonly long long[::1] edge
    cdef readonly long long[::1] target
    cdef readonly double[::1] chance
    cdef readonly double[::1] weight

cdef class Runs:
    cdef readonly Cells cells
    cdef readonly Moves moves

cdef class Going:
    cdef const double[::1] often
    cdef long long step
    cdef long long horizon
    cdef long long span
    cdef bint counts_spent
    cdef bint possible
    cdef object rule
    cdef long long most

cdef void choose_by(Going going, long long step, long long[:, ::1] cell, long long begin, long long end) except * with gil
cdef long long make_room(long long count, long long most) except -1 with gil

cdef long long[:, ::1] widen_grid(long long[:, ::1] known, long long room) with gil
cdef double[:, ::1] widen_table(double[:, ::1] known, long long room) with gil

@cython.locals(
    cell="long long[:, ::1]", move="long long[:, ::1]", order="long long[:, ::1]", mass="double[:, ::1]",
    flow="double[:, ::1]", cells=Cells, ways=Moves, runs=Runs, row=cython.longlong, total=cython.longlong,
    is_ruled=bint, room=cython.longlong,
)
cpdef Runs follow_policy(Arrays arrays, PolicyArrays policy, Going going, long long start, long long account)

@cython.locals(first=cython.longlong, cell=cython.longlong, total=double)
cpdef expect_back(
    Moves moves, const long long[::1] target, Ranges ranges, const double[:, ::1] chances, double[:, :, ::1] values
)
