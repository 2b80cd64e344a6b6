cimport cython

from safear.core.arrays cimport INF, NONE, Arrays, PolicyRoom, widen_policy

cdef class Aim:
    cdef readonly double low, below, below_slope, loss_weight, mean_weight

cdef class Course:
    cdef readonly Arrays arrays
    cdef readonly const unsigned char[::1] goal
    cdef readonly const long long[::1] depth, late
    cdef readonly long long horizon, failure_cost

cdef class Bands:
    cdef readonly const long long[:, ::1] floor, ceiling

cdef class SweepRules:
    cdef readonly const unsigned char[:, ::1] allowed
    cdef readonly const double[:, ::1] chances
    cdef readonly const long long[::1] firsts
    cdef readonly double tie
    cdef readonly bint is_square

cdef class Tables:
    cdef readonly double[:, :, ::1] score, mean
    cdef readonly double[:, ::1] least
    cdef readonly double[:, :, ::1] variance
    cdef readonly long long pad

cdef class Columns:
    cdef double[::1] row_score, row_mean, score, mean, chosen

@cython.locals(tables=Tables, columns=Columns, dearest=cython.longlong, width=cython.longlong, top=cython.longlong)
cpdef Tables make_tables(Course course, const double[:, ::1] ends, Aim aim, SweepRules rules)

cdef Columns make_columns(long long width)

cdef long long find_column(double above) noexcept nogil

@cython.locals(
    columns=Columns, width=cython.longlong, begin=cython.longlong, end=cython.longlong,
    top=cython.longlong, least=double, lowest=cython.longlong,
)
cpdef sweep_columns(
    Course course, Bands bands, SweepRules rules, Aim aim, long long begin_step, long long end_step, Tables tables,
    PolicyRoom room,
)

cdef void clear_columns(Columns columns, long long size) noexcept nogil

@cython.locals(total=double)
cdef double find_least(
    Arrays arrays, const double[:, ::1] chances, long long at, long long row, Tables tables, long long later
) noexcept nogil

@cython.locals(column=int)
cdef void sweep_row(
    Arrays arrays, const double[:, ::1] chances, long long at, long long row, Aim aim, Tables tables, long long later,
    long long begin, long long size, Columns columns,
) noexcept nogil

@cython.locals(better=bint)
cdef void keep_better(Columns columns, long long size, double number, double tie) noexcept nogil

@cython.locals(column=int)
cdef void write_columns(
    Tables tables, long long turn, long long state, Aim aim, long long begin, long long end, long long top, double least,
    Columns columns,
) noexcept nogil

@cython.locals(total=double, mean=double, row=cython.longlong)
cdef void carry_variance(
    Arrays arrays, const double[:, ::1] chances, long long at, long long state, long long asked, long long lowest,
    Columns columns, Tables tables, long long now,
) noexcept nogil

@cython.locals(count=cython.longlong, last=double)
cdef int note_choices(
    PolicyRoom room, long long step, long long state, long long begin, long long size, long long lowest,
    double[::1] chosen,
) except -1 nogil
