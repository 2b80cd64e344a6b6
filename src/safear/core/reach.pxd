cimport cython

from safear.core.arrays cimport make_bytes, make_reals, make_wholes

cdef int NO
cdef int UNKNOWN
cdef int YES
cdef int DIGITS

cdef class Ground:
    cdef readonly const long long[::1] index
    cdef const long long[::1] row_start
    cdef const long long[::1] row_end
    cdef readonly const unsigned char[::1] row_action
    cdef const long long[::1] edge_start
    cdef const long long[::1] edge_next
    cdef const double[::1] edge_chance
    cdef const double[::1] edge_low
    cdef const double[::1] edge_high
    cdef const long long[::1] edge_cost
    cdef const unsigned char[::1] edge_outcome
    cdef const unsigned char[::1] edge_shows
    cdef const unsigned char[::1] edge_fine
    cdef const unsigned char[::1] edge_priced

cdef class Said:
    cdef const signed char[::1] answers
    cdef const long long[::1] number
    cdef long long shift

cdef class Personal:
    cdef const long long[::1] number
    cdef const long long[::1] cost
    cdef const double[:, ::1] chance
    cdef long long up
    cdef long long down

cdef class Scratch:
    cdef readonly short[::1] depth
    cdef long long[::1] number
    cdef readonly long long[::1] found
    cdef readonly long long[::1] unknown
    cdef readonly long long[::1] bare
    cdef long long[::1] row_end
    cdef long long[::1] rows
    cdef long long[::1] places

cdef class Gathered:
    cdef readonly long long[::1] place
    cdef readonly unsigned char[::1] goal
    cdef readonly short[::1] depth
    cdef readonly long long[::1] row_start
    cdef readonly unsigned char[::1] row_action
    cdef readonly long long[::1] edge_start
    cdef readonly long long[::1] edge_next
    cdef readonly double[::1] edge_chance
    cdef readonly double[::1] edge_low
    cdef readonly double[::1] edge_high
    cdef readonly long long[::1] edge_cost
    cdef readonly unsigned char[::1] edge_outcome
    cdef readonly bint has_intervals
    cdef long long[::1] rows

cdef bint is_possible(Ground ground, Personal own, long long action, long long edge) noexcept nogil

@cython.locals(shows=bint)
cdef bint is_offered(Ground ground, Personal own, long long row) noexcept nogil

@cython.locals(is_left=bint, answer=int)
cdef (long long, long long, long long) seek(
    Ground ground, Personal own, Said said, long long count, long long horizon, long long most, Scratch scratch
) noexcept nogil

cdef long long begin(Scratch scratch, long long start, long long count) noexcept nogil

cpdef (long long, long long, long long) search(
    Ground ground, Personal own, Said said, const long long[::1] starts, long long horizon, long long most,
    Scratch scratch,
)

cpdef void clear(Scratch scratch, long long count) noexcept nogil
cpdef Gathered gather(Ground ground, Personal own, Said said, long long count, Scratch scratch)
cdef long long collect(
    Ground ground, Personal own, Said said, long long count, Scratch scratch, Gathered part
) except -1 nogil

cdef int reserve_states(Gathered part, long long count) except -1 nogil
cdef int reserve_rows(Gathered part, long long count) except -1 nogil
cdef int reserve_edges(Gathered part, long long count) except -1 nogil
cdef short[::1] make_shorts(long long count) with gil
cdef void sort_places(
    long long[::1] place, long long count, const long long[::1] index, long long[::1] spare, long long[::1] ends
) noexcept nogil
cdef long long list_rows(
    const long long[::1] edge_start, long long count, Scratch scratch, Gathered part
) noexcept nogil

@cython.locals(is_as_ever=bint)
cdef long long copy_rows(
    Ground ground, Personal own, long long[::1] place, long long count, Gathered part
) noexcept nogil
