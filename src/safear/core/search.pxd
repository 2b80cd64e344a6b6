cimport cython

from safear.core.arrays cimport make_grid, make_reals, make_table, make_wholes, widen_wholes
from safear.core.exponentials cimport find_entropic
from safear.core.runs cimport Going
from safear.core.sketches cimport (
    BEGIN, DECIDED, DEPTH, ENDED, FINISH, FOLLOWING, LEAST_MEAN, MOST_SUCCESS, OPTION, PARENT, ROW, RULES, SINCE, SPENT,
    STATE, STEP, TAKEN, VALUE, WON, Options, SearchGround, Sketches, Unfolding, lengthen_grid,
    lengthen_table, look_at_base,
)

cdef double ROUNDING

cpdef enum:
    MEAN = 0, CVAR = 1, MEAN_CVAR = 2, ENTROPIC = 3, OTHER = 4

@cython.final
cdef class Aim:
    cdef int kind
    cdef double parameter, level, value, mean, tail, success, grain, rare

    cdef double find_value(self, double mean, double tail, double entropic) noexcept nogil
    cdef bint allows(self, double success, double mean) noexcept nogil

cdef bint is_within(double own, double most) noexcept nogil

@cython.locals(beyond=double, excess=double, more=double, same=double, higher=double)
cpdef double find_cvar(double[::1] values, double[::1] chances, double level) noexcept nogil
cdef double find_largest(const double[::1] values) noexcept nogil
cdef void swap(double[::1] values, double[::1] chances, long long one, long long other) noexcept nogil

@cython.final
cdef class Looker:
    cdef SearchGround ground
    cdef Aim aim
    cdef Sketches sketches
    cdef double[::1] values, chances
    cdef long long[::1] rows, states
    cdef long long n_rows, n_states

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

cdef enum:
    SKETCH = 0, CHOICE = 1
    PARTS = 5

@cython.final
cdef class Queue:
    cdef long long most, entries, waiting
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
    cdef double[:, ::1] dearer, likelier

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
