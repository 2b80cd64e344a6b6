"""Algorithm 1 as a literal loop in C, compiled on the spot for this processor: what the sweep could at best be."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import safear as sa

FLAGS = ("-O3", "-march=native", "-fPIC", "-shared")
SOURCE = r"""
#include <math.h>
#include <stdint.h>
/* Q(s, a) = m + aversion * d, m and d the mean and deviation of c + V(s'); V(s) = min over a of Q(s, a). */
void sweep(int64_t horizon, int64_t states, const int64_t *row_start, const int64_t *edge_start, const int64_t *next,
           const double *chance, const double *cost, const uint8_t *goal, double aversion,
           double *later, double *now, uint8_t *choices) {
    for (int64_t step = horizon - 1; step >= 0; step--) {
        for (int64_t state = 0; state < states; state++) {
            double least = INFINITY;
            int64_t chosen = 255;
            if (!goal[state])
                for (int64_t row = row_start[state]; row < row_start[state + 1]; row++) {
                    double mean = 0, squares = 0;
                    for (int64_t e = edge_start[row]; e < edge_start[row + 1]; e++)
                        mean += chance[e] * (cost[e] + later[next[e]]);
                    if (aversion != 0) {
                        for (int64_t e = edge_start[row]; e < edge_start[row + 1]; e++) {
                            double distance = cost[e] + later[next[e]] - mean;
                            squares += chance[e] * distance * distance;
                        }
                        mean += aversion * sqrt(squares);
                    }
                    if (mean < least) { least = mean; chosen = row - row_start[state]; }
                }
            now[state] = chosen == 255 ? later[state] : least;
            choices[step * states + state] = (uint8_t)chosen;
        }
        double *swap = later; later = now; now = swap;
    }
}
"""


def compile_sweep() -> Callable[[sa.MDP, float], Callable[[], NDArray[np.float64]]] | None:
    """The sweep of an MDP, ready to be timed: gives the values of all states in quanta. None where there is no gcc."""
    compiler = shutil.which("gcc")
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as name:
        source, library = Path(name) / "sweep.c", Path(name) / "sweep.so"
        source.write_text(SOURCE, encoding="utf-8")
        subprocess.run([compiler, *FLAGS, "-o", str(library), str(source), "-lm"], check=True)
        sweep = ctypes.CDLL(str(library)).sweep
    real, whole, byte = (np.ctypeslib.ndpointer(kind, flags="C") for kind in (np.float64, np.int64, np.uint8))
    sweep.argtypes = [ctypes.c_int64, ctypes.c_int64, whole, whole, whole, real, real, byte, ctypes.c_double]
    sweep.argtypes += [real, real, byte]
    sweep.restype = None

    def prepare(mdp: sa.MDP, aversion: float) -> Callable[[], NDArray[np.float64]]:
        costs, goal = mdp.edge_cost.astype(np.float64), mdp.goal.astype(np.uint8)
        starts = np.where(mdp.goal, 0.0, float(mdp.failure_cost))
        choices = np.empty((mdp.horizon, mdp.n_states), np.uint8)
        arrays = [array.astype(np.int64) for array in (mdp.row_start, mdp.edge_start, mdp.edge_next)]

        def run() -> NDArray[np.float64]:
            later, now = starts.copy(), np.empty_like(starts)
            sweep(mdp.horizon, mdp.n_states, *arrays, mdp.edge_chance, costs, goal, aversion, later, now, choices)
            return later if mdp.horizon % 2 == 0 else now

        return run

    return prepare
