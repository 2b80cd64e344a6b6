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

cdef class PolicyRoom:
    cdef long long[:, ::1] size
    cdef long long[::1] first
    cdef unsigned char[::1] choice
    cdef long long count

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

@cython.locals(policy=PolicyArrays)
cpdef PolicyArrays make_policy(
    const long long[::1] piece_start, const long long[::1] first, const unsigned char[::1] choice
)
cpdef PolicyRoom make_policy_room(long long horizon, long long n_states)
cdef void widen_policy(PolicyRoom room, long long more) except * with gil

@cython.locals(
    begin="long long[::1]", first="long long[::1]", choice="unsigned char[::1]", place=cython.longlong,
    written=cython.longlong,
)
cpdef PolicyArrays finish_policy(PolicyRoom room)
@cython.locals(
    part=PolicyArrays, known="const long long[::1]", begin="long long[::1]", end="long long[::1]",
    first="long long[::1]", choice="unsigned char[::1]", n_places=cython.longlong, whole=cython.longlong,
    by=cython.longlong,
)
cpdef PolicyArrays join_policies(list parts, long long horizon, long long n_states)
cpdef PolicyArrays join_spans(list parts, long long horizon, long long n_states)

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
