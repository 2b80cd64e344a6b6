cimport cython

from safear.core.arrays cimport (
    INF, PolicyArrays, PolicyRoom, finish_policy, join_spans, make_policy_room, make_reals, make_wholes,
    sort_keys,
)
from safear.core.figures cimport describe
from safear.core.runs cimport Cells, Going, follow_policy
from safear.core.targets cimport Aim, Bands, Course, SweepRules, Tables, make_tables, sweep_columns

cdef class Question:
    cdef readonly long long start
    cdef readonly double level
    cdef readonly const long long[:, ::1] spans
    cdef readonly double near, tolerance
    cdef readonly Going going

cdef class TailPlan:
    cdef readonly double value
    cdef readonly long long opening
    cdef readonly PolicyArrays policy
    cdef readonly long long[::1] state, spent
    cdef readonly double[::1] chance
    cdef readonly double success, mean, variance, tail

@cython.locals(
    room=cython.longlong, aim=Aim, tables=Tables, written=PolicyRoom, found=TailPlan,
    opening=cython.longlong, value=double, least=double, least_mean=double,
)
cpdef TailPlan weigh_tail(Course course, Bands bands, SweepRules rules, Question question, double weight)

@cython.locals(ends=double[:, ::1])
cdef list_excess(Course course, long long low, long long columns)

@cython.locals(cells=Cells, count=cython.longlong, success=double)
cdef follow_plan(TailPlan found, Course course, Question question)
