cimport cython

from safear.core.arrays cimport INF, Arrays

@cython.locals(cost=double, wins=double)
cpdef sweep_ahead(Arrays arrays, const unsigned char[:, ::1] acts, double[:, ::1] mean, double[:, ::1] success)
