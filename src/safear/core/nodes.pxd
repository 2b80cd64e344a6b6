cimport cython

from safear.core.arrays cimport Arrays, make_grid, make_reals, make_table, make_wholes
from safear.core.runs cimport Cells, Runs

cdef enum:
    GOAL = -1
    END = -2
    STUCK = -3
    LOST = -4
    FIRST = 0
    LAST = 1
    LOW = 2
    HIGH = 3
    STATE = 4
    ROW = 5
    PART = 6

cdef class Telling:
    cdef const unsigned char[::1] goal
    cdef const unsigned char[::1] stuck
    cdef const long long[::1] needed
    cdef const unsigned char[::1] works
    cdef long long horizon
    cdef double rare_step
    cdef double rare_way

cdef class Nodes:
    cdef long long[::1] of
    cdef long long[::1] row
    cdef double[::1] weight
    cdef long long[:, ::1] box
    cdef long long[::1] hopeful

cdef class Ways:
    cdef long long[::1] slot
    cdef long long[::1] start
    cdef long long[::1] target
    cdef double[::1] share

cdef bint boxes_meet(
    long long[:, ::1] boxes, long long number, long long first, long long last, long long low, long long high
) noexcept nogil
cdef void put_box(long long[:, ::1] boxes, long long number, long long[:, ::1] others, long long other) noexcept nogil
cdef void stretch_box(
    long long[:, ::1] boxes, long long number, long long[:, ::1] others, long long other
) noexcept nogil

cdef long long list_pieces(Cells cells, long long[::1] chosen, long long[:, ::1] pieces) noexcept nogil
cdef bint goes_on(Cells cells, long long before, long long cell) noexcept nogil
cdef bint is_clear(
    long long[:, ::1] boxes, long long number, long long[:, ::1] pieces, long long begin, long long end,
    long long row, long long part,
) noexcept nogil
cdef long long join_pieces(
    const long long[::1] row_start, long long[:, ::1] pieces, long long count, long long[::1] number, long long fresh
) noexcept nogil
@cython.locals(some=bint)
cdef bint join_row(
    long long[:, ::1] pieces, long long begin, long long end, long long[:, ::1] boxes, long long row, long long number
) noexcept nogil
cdef long long split_row(
    long long[:, ::1] pieces, long long begin, long long end, long long[:, ::1] boxes, long long[::1] parts,
    long long row, long long number, long long fresh,
) noexcept nogil

@cython.locals(count=longlong, frequent=longlong)
cdef long long number_rows(
    Arrays arrays, Telling telling, Cells cells, long long[::1] number, long long[::1] apart
) noexcept nogil
cdef int name_end(Telling telling, long long step, long long state) noexcept nogil
@cython.locals(split=longlong)
cdef long long number_cells(Arrays arrays, Telling telling, Cells cells, long long[::1] of) noexcept nogil
@cython.locals(before=longlong)
cdef long long split_cells(
    const long long[::1] row_start, Cells cells, long long[::1] apart, long long split, long long[::1] number,
    long long count, long long[::1] of,
) noexcept nogil
@cython.locals(box=cython.longlong[:, ::1])
cdef Nodes find_nodes(Arrays arrays, Telling telling, Runs runs)

@cython.locals(all_chance=double, all_weight=double, by_weight=double, slots=longlong, count=longlong, done=longlong)
cdef Ways add_up_ways(Arrays arrays, Runs runs, Nodes nodes)
cdef bint is_earlier(
    long long one, long long other, long long[::1] since, long long[::1] until, long long[::1] target
) noexcept nogil
