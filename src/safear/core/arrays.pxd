cdef double INF
cdef int NONE
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
    cdef const unsigned char[:, ::1] table
    cdef const long long[::1] piece_start
    cdef const long long[::1] first
    cdef const unsigned char[::1] choice

cpdef int find_choice(PolicyArrays policy, long long place, long long account) noexcept nogil
cdef long long choose_row(
    const long long[::1] row_start, PolicyArrays policy, long long step, long long state, long long account
) noexcept nogil

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
