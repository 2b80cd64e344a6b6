cimport cython

from safear.core.arrays cimport (
    NONE, Arrays, PolicyArrays, choose_row, fill_wholes, make_bytes, make_wholes
)
from safear.core.runs cimport Cells, Going, follow_policy
from safear.core.sketches cimport FOLLOW

@cython.locals(cells=Cells)
cpdef settle_rows(
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
    size=cython.longlong,
)
cdef condense(Arrays arrays, PolicyArrays policy, Cells cells, long long horizon, long long account)
