cimport cython

from safear.core.arrays cimport Arrays, make_grid, make_reals, make_table, make_wholes
from safear.core.runs cimport Cells, Moves, Runs

cpdef enum:
    GOAL = -1, END = -2, STUCK = -3, LOST = -4

cdef enum:
    FIRST = 0, LAST = 1, LOW = 2, HIGH = 3, STATE = 4, ROW = 5, PART = 6

cdef class Telling:
    cdef const unsigned char[::1] goal, stuck, works
    cdef const long long[::1] needed
    cdef long long horizon
    cdef double rare_step, rare_way

cdef class Nodes:
    cdef readonly long long[::1] of, row, hope
    cdef readonly double[::1] visits, weight
    cdef readonly long long[:, ::1] box, entered, pieces
    cdef readonly long long n_pieces

cdef class Ways:
    cdef readonly long long[::1] slot, start, target
    cdef readonly double[::1] share, share_if_off
    cdef readonly long long[:, ::1] box

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
) except -1 nogil
cdef long long join_row(
    long long[:, ::1] pieces, long long begin, long long end, long long[:, ::1] boxes, long long[::1] parts,
    long long row, long long number, long long fresh,
) noexcept nogil

@cython.locals(count=longlong, frequent=longlong)
cdef long long number_rows(
    Arrays arrays, Telling telling, Cells cells, long long[::1] number, long long[::1] apart
) except -1 nogil
cdef int name_end(Telling telling, long long step, long long state) noexcept nogil
@cython.locals(split=longlong)
cdef long long number_cells(Arrays arrays, Telling telling, Cells cells, Nodes nodes) except -1 nogil
@cython.locals(before=longlong)
cdef long long split_cells(
    const long long[::1] row_start, Cells cells, long long[::1] apart, long long split, long long[::1] number,
    long long count, Nodes nodes,
) except -1 nogil
@cython.locals(box="long long[:, ::1]", entered="long long[:, ::1]", in_time=bint)
cdef Nodes find_nodes(Arrays arrays, Telling telling, Runs runs)
cdef void enter(long long[:, ::1] entered, long long node, long long step) noexcept nogil

@cython.locals(
    found="long long[:, ::1]", box="long long[:, ::1]", all_chance=double, all_weight=double, slots=longlong,
    count=longlong, done=longlong,
)
cdef Ways add_up_ways(Arrays arrays, Runs runs, Nodes nodes)
cdef bint is_earlier(long long one, long long other, long long[:, ::1] boxes, long long[::1] target) noexcept nogil

cdef class Outline:
    cdef Arrays arrays
    cdef Telling telling
    cdef readonly Nodes nodes
    cdef readonly Ways ways
    cdef readonly long long along
    cdef readonly long long[::1] line, told
    cdef long long[::1] is_main

    @cython.locals(count=longlong, same=bint)
    cpdef walk(self, long long[::1] told)

@cython.locals(found=Outline)
cpdef Outline outline(Arrays arrays, Telling telling, Runs runs)

@cython.locals(likelier=bint)
cdef long long choose_edge(Arrays arrays, Telling telling, long long row) noexcept nogil
@cython.locals(cell=longlong, move=longlong, count=longlong)
cdef long long follow_line(
    Arrays arrays, Telling telling, Cells cells, Moves moves, Nodes nodes, long long[::1] line,
    long long[::1] is_main,
) noexcept nogil
cdef long long walk_along(
    Ways ways, long long[::1] line, long long along, long long[::1] told, double rare_way, long long[::1] found,
    long long[::1] order,
) except -1 nogil
cdef bint is_likely(Ways ways, long long way, double rare_way) noexcept nogil
@cython.locals(comes=bint)
cdef bint leads_only(Ways ways, long long slot, long long node, long long besides, double rare_way) noexcept nogil
@cython.locals(found=longlong)
cdef long long find_working(Arrays arrays, Telling telling, long long row) noexcept nogil
cdef bint repeats(
    Arrays arrays, Telling telling, Nodes nodes, Ways ways, long long one, long long other
) noexcept nogil
@cython.locals(likely=bint)
cdef void mark_told(Telling telling, Nodes nodes, long long[::1] told) noexcept nogil
cdef void mark_entered(
    Ways ways, long long[::1] order, long long count, long long[::1] spot, long long[::1] entered
) noexcept nogil
