cimport cython

from safear.core.arrays cimport Arrays, fill_wholes, make_reals, make_table, make_wholes
from safear.core.figures cimport carry_back, describe

cdef double NAN

cpdef summarise_costs(
    Arrays arrays, const unsigned char[:, ::1] goal, const unsigned char[:, :, ::1] choices, long long width,
    double level, double tolerance, double[:, :, ::1] figures,
)

@cython.locals(width=cython.longlong, success=double, changed=double, moved=double, chance=double)
cpdef summarise_ends(
    Arrays arrays, const unsigned char[:, ::1] goal, const unsigned char[:, :, ::1] choices,
    const short[:, ::1] codes, const long long[::1] sizes, const unsigned char[::1] ordered, double[:, :, ::1] figures,
)

cpdef find_highest_success(Arrays arrays, const unsigned char[:, ::1] goal, long long horizon)
