cimport cython

cdef double INF
cdef int NONE
cdef int ROOM
cdef int RUN

cdef class Arrays:
    cdef const long long[::1] row_start
    cdef const unsigned char[::1] row_action
    cdef const long long[::1] edge_start
    cdef const long long[::1] edge_next
    cdef const double[::1] edge_chance
    cdef const long long[::1] edge_cost
    cdef const unsigned char[::1] edge_outcome

cdef class PolicyArrays:
    cdef readonly const unsigned char[:, ::1] table
    cdef readonly const long long[::1] piece_start
    cdef readonly const long long[::1] first
    cdef readonly const unsigned char[::1] choice

cdef class Pieces:
    cdef readonly long long[::1] place
    cdef readonly long long[::1] first
    cdef readonly unsigned char[::1] choice
    cdef readonly long long count

cpdef int find_choice(PolicyArrays policy, long long place, long long account) noexcept nogil
cdef int choose(
    PolicyArrays policy, long long n_states, long long step, long long state, long long account
) noexcept nogil
cdef long long choose_row(
    const long long[::1] row_start, PolicyArrays policy, long long step, long long state, long long account
) noexcept nogil

@cython.locals(chosen="unsigned char[::1]", places=cython.longlong)
cpdef choose_all(
    PolicyArrays policy, long long n_states, long long step, const long long[::1] states,
    const long long[::1] accounts,
)

cpdef long long find_fault(Arrays arrays, PolicyArrays policy) noexcept nogil
cdef bint is_no_row(const long long[::1] row_start, long long state, int choice) noexcept nogil

@cython.locals(pieces=Pieces)
cpdef Pieces make_pieces()
cdef void widen_pieces(Pieces pieces, long long more) except * with gil
cpdef Pieces move_pieces(Pieces pieces, long long by)

@cython.locals(
    part=Pieces, count=cython.longlong, begin="long long[::1]", first="long long[::1]", choice="unsigned char[::1]",
    room="long long[:, ::1]", choices="unsigned char[::1]", policy=PolicyArrays,
)
cpdef PolicyArrays join_pieces(list parts, long long n_places)
cdef count_pieces(Pieces pieces, long long n_places, long long[::1] begin)
cdef put_pieces(Pieces pieces, long long[::1] begin, long long[::1] first, unsigned char[::1] choice)
cdef bint is_rising(const long long[::1] first, long long begin, long long end) noexcept nogil

cdef double[::1] make_reals(long long count) with gil
cdef double[:, ::1] make_table(long long rows, long long columns) with gil
cdef long long[::1] make_wholes(long long count) with gil
cdef long long[:, ::1] make_grid(long long rows, long long columns) with gil
cdef unsigned char[::1] make_bytes(long long count) with gil
cdef long long[::1] fill_wholes(long long count, long long value) with gil
cdef double[::1] widen_reals(double[::1] known, long long room) with gil
cdef long long[::1] widen_wholes(long long[::1] known, long long room) with gil
cdef unsigned char[::1] widen_bytes(unsigned char[::1] known, long long room) with gil
cpdef void sort_keys(const long long[::1] keys, long long[::1] order, long long[::1] spare) noexcept nogil
