cimport cython

from safear.core.arrays cimport Arrays, make_grid, make_wholes
from safear.core.nodes cimport END, Nodes, Telling, Ways, add_up_ways, boxes_meet, find_nodes
from safear.core.runs cimport Cells, Moves, Runs

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
