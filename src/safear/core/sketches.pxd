cimport cython

from safear.core.arrays cimport (
    NONE, Arrays, PolicyArrays, choose_row, fill_wholes, make_bytes, make_grid, make_policy, make_reals, make_table,
    make_wholes, widen_reals,
)
from safear.core.runs cimport Cells, Going, follow_policy

cdef enum:
    FOLLOW = -3, FORGET = -4, FULL = -2
    WON = -1, LOST = -2
    STATE = 0, STEP = 1, SPENT = 2, NEXT = 3, SLOT = 4
    ROW = 0, SINCE = 1
    HEAD = 0, TAIL = 1
    BEFORE = 0, UNTIL = 1, AFTER = 2
    BEGIN = 0, ENDED = 1, TAKEN = 2, FINISH = 3
    PARENT = 0, DECIDED = 1, OPTION = 2, DEPTH = 3, FOLLOWING = 4, RULES = 5
    VALUE = 0, LEAST_MEAN = 1, MOST_SUCCESS = 2

@cython.final
cdef class SearchGround:
    cdef Arrays arrays
    cdef const long long[::1] row_state, needed
    cdef const double[::1] often
    cdef bint differs, stops
    cdef const unsigned char[::1] goal, works
    cdef const unsigned char[:, ::1] acts
    cdef const double[:, ::1] ahead_mean, ahead_success
    cdef PolicyArrays base
    cdef long long account, start, horizon, n_states
    cdef double failure, quantum

@cython.final
cdef class Used:
    cdef unsigned char[::1] row
    cdef long long[::1] first, last, number
    cdef long long[:, ::1] forget

@cython.locals(cells=Cells, before=cython.longlong)
cdef Used look_at_base(SearchGround ground, Going going)

@cython.locals(often=double)
cdef long long find_likeliest(Cells cells, long long begin, long long end) noexcept nogil

@cython.final
cdef class Options:
    cdef SearchGround ground
    cdef Used used
    cdef long long most, count
    cdef long long[:, ::1] of
    cdef long long[::1] begin, end

    cdef int list_all(self, long long state) except -1 nogil
    cdef void add(self, long long before, long long step, long long after) noexcept nogil
    cdef void keep_start(self) noexcept nogil
    cdef long long find_row(self, long long option, long long state, long long step) noexcept nogil

@cython.final
cdef class Sketches:
    cdef long long count, n_items, most
    cdef long long[:, ::1] of, kinds, told_kinds, items
    cdef double[:, ::1] bounds
    cdef double[::1] chances

    cdef int has_room(self) except -1 nogil
    cdef int has_room_for(self, long long items) except -1 nogil
    cdef void begin(self, long long start) noexcept nogil
    cdef void drop(self) noexcept nogil

@cython.final
cdef class Unfolding:
    cdef SearchGround ground
    cdef Options options
    cdef Sketches sketches
    cdef long long most, n_items, n_open, n_taken
    cdef long long[:, ::1] item, chain
    cdef double[::1] chance, taken_often
    cdef long long[::1] slot, open, option, taken, taken_since

    cdef int has_room(self, long long items) except -1 nogil
    @cython.locals(mixed=cython.ulonglong)
    cdef long long locate(self, long long state, long long step, long long spent) noexcept nogil
    cdef void add_item(self, long long state, long long step, long long spent, double chance) noexcept nogil
    cdef void take_row(self, long long row, long long step, double chance) noexcept nogil
    cdef void clear(self) noexcept nogil
    @cython.locals(number=cython.longlong)
    cdef int unfold(self, const double[::1] edge_chance, long long[:, ::1] kinds, long long before) except -1 nogil
    cdef int recall(self, long long[:, ::1] kinds, long long before) except -1 nogil
    cdef void arrive(self, long long edge, long long step, long long spent, double chance) noexcept nogil
    @cython.locals(number=cython.longlong)
    cdef int store(self, long long[:, ::1] kinds, long long sketch) except -1 nogil
    cdef int decide(self, long long before, long long option) except -1 nogil
    cdef void close_states(self, long long sketch) noexcept nogil
    cdef void open_states(self, long long sketch) noexcept nogil

cdef long long[:, ::1] lengthen_grid(long long[:, ::1] known, long long rows) with gil
cdef double[:, ::1] lengthen_table(double[:, ::1] known, long long rows) with gil

@cython.locals(cells=Cells)
cpdef PolicyArrays settle_rows(
    Arrays arrays, PolicyArrays base, Going going, const long long[::1] states, const long long[:, ::1] rows,
    long long start, long long account,
)

@cython.locals(count=cython.longlong, row=cython.longlong)
cdef PolicyArrays lay_over(
    Arrays arrays, PolicyArrays base, const long long[::1] states, const long long[:, ::1] rows
)

cdef write_over(
    Arrays arrays, unsigned char[:, ::1] table, const long long[::1] states, const long long[:, ::1] rows
)

cdef int count_row(Arrays arrays, long long state, long long row) noexcept nogil

@cython.locals(
    depends=bint, acting=cython.longlong, count=cython.longlong, cell=cython.longlong, done=cython.longlong,
)
cdef PolicyArrays condense(Arrays arrays, PolicyArrays policy, Cells cells, long long horizon, long long account)
