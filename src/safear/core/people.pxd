cimport cython

from safear.core.arrays cimport (
    NONE, Arrays, PolicyArrays, make_bytes, make_reals, make_table, make_wholes, sort_keys,
)
from safear.core.figures cimport Room, describe, follow, make_places
from safear.core.reach cimport YES, Gathered, Ground, Personal, Said, Scratch, begin, clear, collect, make_shorts, seek
from safear.core.sweeps cimport Deviation, lower_steps, sweep_lane, weigh_two_outcomes

cdef int FAVOURABLE
cdef int PLANNED
cdef int NO_RECOURSE
cdef int TOO_FINE
cdef int MAX_PAIRS
cdef int PLACES
cdef double NAN

cdef class People:
    cdef const long long[::1] start
    cdef const long long[::1] lane
    cdef const unsigned char[:, ::1] offered
    cdef const long long[:, ::1] cost
    cdef const double[:, ::1] chance
    cdef const long long[::1] scale

cdef class Rules:
    cdef long long horizon
    cdef long long failure_cost
    cdef double risk_aversion
    cdef bint upper_only
    cdef double tie
    cdef double level
    cdef double tolerance
    cdef bint stops

cdef class Answers:
    cdef unsigned char[::1] status
    cdef short[::1] first_action
    cdef double[:, ::1] figures

cdef class Bench:
    cdef long long[::1] number
    cdef long long[::1] cost
    cdef double[:, ::1] chance
    cdef Personal terms
    cdef Gathered part
    cdef Arrays own
    cdef Deviation deviation
    cdef double[::1] rise
    cdef double[::1] fall
    cdef short[:, ::1] needed
    cdef short[::1] steps
    cdef unsigned char[:, ::1] choices
    cdef double[::1] later
    cdef double[::1] now
    cdef PolicyArrays policy
    cdef int[::1] table
    cdef Room room
    cdef long long[::1] order
    cdef long long[::1] spare
    cdef long long[::1] total
    cdef double[::1] mass
    cdef long long[::1] some_total
    cdef double[::1] some_mass

cpdef solve_one_by_one(
    Ground ground, const signed char[:, ::1] said, People people, Rules rules, Scratch scratch, Answers answers
)
cdef int solve_person(
    Ground ground, Said known, People people, Rules rules, Scratch scratch, Answers answers, Bench bench,
    long long person,
) except -1 nogil

cdef void bring_terms(People people, long long person, Bench bench) noexcept nogil
cdef void take_part(Arrays own, Gathered part) noexcept nogil
cdef int make_room(Bench bench, long long count, long long horizon) except -1 nogil
cdef int make_room_for_ends(Bench bench, long long count) except -1 nogil

@cython.locals(chance=double, best=double)
cdef double find_best(
    Arrays own, const unsigned char[::1] goal, long long count, long long horizon, long long first,
    double[::1] later, double[::1] now,
) noexcept nogil

@cython.locals(choices='unsigned char[:, ::1]')
cdef int plan(
    Bench bench, Arrays own, const unsigned char[::1] goal, long long count, Rules rules, long long scale
) except -1 nogil

@cython.locals(
    order='long long[::1]', spare='long long[::1]', whole=double, squares=double, above=double, mean=double,
    variance=double,
)
cdef int sum_up(
    Bench bench, Room room, const unsigned char[::1] goal, long long ends, Rules rules, long long scale,
    double[::1] figures,
) except -1 nogil

cdef unsigned char[:, ::1] make_choices(long long steps, long long count) with gil
cdef short[:, ::1] make_steps(long long count) with gil
cdef short[::1] join_lanes(short[:, ::1] needed) with gil
