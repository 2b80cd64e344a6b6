cimport cython

from safear.core.arrays cimport make_grid, make_table, make_wholes, widen_wholes
from safear.core.bounds cimport Aim, Looker
from safear.core.runs cimport Going
from safear.core.sketches cimport (
    BEGIN, DECIDED, DEPTH, ENDED, FOLLOWING, LEAST_MEAN, MOST_SUCCESS, OPTION, PARENT, RULES, STATE, STEP, VALUE,
    Options, SearchGround, Sketches, Unfolding, lengthen_grid, lengthen_table, look_at_base,
)

cdef enum:
    SKETCH = 0
    CHOICE = 1
    PARTS = 5

@cython.final
cdef class Queue:
    cdef long long most
    cdef long long entries
    cdef long long waiting
    cdef double[:, ::1] key
    cdef long long[:, ::1] what
    cdef long long[::1] heap

    cdef int has_room_for(self, long long entries) except -1 nogil
    cdef bint comes_before(self, long long one, long long other) noexcept nogil
    cdef void push(
        self, long long sketch, long long choice, long long depth, long long rules, double value, double dearer
    ) noexcept nogil
    @cython.locals(place=cython.longlong)
    cdef void pop(self) noexcept nogil

@cython.final
cdef class SketchSearch:
    cdef SearchGround ground
    cdef Aim aim
    cdef Options options
    cdef Sketches sketches
    cdef Queue queue
    cdef Unfolding unfolding
    cdef Looker looker
    cdef public long long cells
    cdef bint deep
    cdef long long[::1] steps
    cdef double[::1] come
    cdef double[:, ::1] dearer
    cdef double[:, ::1] likelier

    cpdef begin(self, bint deep)
    @cython.locals(depth=cython.longlong)
    cdef void push(self, long long sketch, long long choice, double dearer) noexcept nogil
    cpdef bint go_on(
        self, long long best_rules, double best_value, long long most_cells, long long overhead
    ) except -1
    cdef int find_complete(
        self, long long best_rules, double best_value, long long most_cells, long long overhead
    ) except -1 nogil
    cdef bint is_worse(self, long long sketch, long long best_rules, double best_value) noexcept nogil
    @cython.locals(more=double, wins=double)
    cdef int list_next(self, long long sketch) except -1 nogil
    @cython.locals(count=cython.longlong)
    cdef long long list_arrivals(self, long long sketch, long long state) noexcept nogil
    @cython.locals(mean=double, success=double, more_mean=double, more_success=double)
    cdef void find_differences(self, long long state, long long count) noexcept nogil
    @cython.locals(sketch=cython.longlong)
    cpdef list_decided(self)
