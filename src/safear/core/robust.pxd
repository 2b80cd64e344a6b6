cimport cython

from safear.core.arrays cimport INF, Arrays, PolicyRoom
from safear.core.sweeps cimport Ranges, find_end, find_worst
from safear.core.targets cimport Aim, Course, note_choices

cdef class LossTables:
    cdef double[:, :, ::1] loss, mean

cdef class Prospect:
    cdef double[:, ::1] loss, mean
    cdef double[::1] row_loss, row_mean, least_loss, least_mean, chosen

@cython.locals(arrays=Arrays, prospect=Prospect, found=bint, is_exact=bint)
cpdef robust_step(
    Course course, Ranges ranges, long long step, const unsigned char[::1] allowed, Aim aim, double tie,
    LossTables tables, PolicyRoom room,
)

@cython.locals(is_exact=bint, column=int)
cdef bint look_ahead(
    Arrays arrays, Ranges ranges, long long row, Aim aim, LossTables tables, long long later, Prospect prospect
) noexcept nogil

cdef void mix_exactly(Arrays arrays, Ranges ranges, long long row, Prospect prospect) noexcept nogil

@cython.locals(is_first=bint, p=double, q=double, least0=double, most0=double, least1=double, most1=double)
cdef void mix_pair(Arrays arrays, Ranges ranges, long long row, Aim aim, Prospect prospect) noexcept nogil

@cython.locals(loss=double, mean=double, place=cython.longlong, i=cython.longlong)
cdef void mix_worst(Arrays arrays, Ranges ranges, long long row, Aim aim, Prospect prospect) noexcept nogil

@cython.locals(better=bint)
cdef void keep_better(Prospect prospect, double number, Aim aim, double tie, bint found) noexcept nogil

cdef void write_best(Prospect prospect, LossTables tables, long long now, long long state) noexcept nogil
