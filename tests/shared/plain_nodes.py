"""The nodes of a plan's graph, the ways between them and what is told, from their definitions, with dictionaries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import safear as sa
from plain_runs import PlainLayer, follow_plainly
from plan_family import weigh
from safear.evaluation import Policy

GOAL, END, STUCK, LOST = -1, -2, -3, -4
RARE_STEP, RARE_WAY = 0.001, 0.01

Box = tuple[int, int, int, int]  # first and last step, least and most spent


class Cell(NamedTuple):
    """Where a run may be, what is done there, and how probable that is: nominally, and with what may be off."""

    step: int
    state: int
    spent: int
    row: int
    chance: float
    weight: float


class Way(NamedTuple):
    """Where an edge leads, in which share of the cases, and when."""

    target: int
    share: float
    share_if_off: float
    box: Box


@dataclass
class PlainGraph:
    """All nodes of a policy's runs: the node of each cell, or how it ended; and by node what `core.nodes` says."""

    mdp: sa.MDP
    cells: list[Cell]
    moves: list[tuple[int, int, int, float, float]]  # origin, edge, target, chance, weight
    rare_step: float
    rare_way: float
    pieces: list[tuple[Box, int, int, int]] = field(default_factory=list)  # with state, row and node
    of: list[int] = field(default_factory=list)

    @classmethod
    def of_policy(cls, policy: Policy, *, whole: bool) -> PlainGraph:
        """Follow its runs, also where only intervals let them go."""
        mdp, start = policy.mdp, policy.mdp.start
        choose = policy.choosing(int(policy.accounts[start]))
        plain, weighed = (
            follow_plainly(each, choose, start, counts_spent=policy.looks_at_spent, possible=True)
            for each in (mdp, weigh(mdp))
        )
        graph = cls(mdp, [], [], *((0.0, 0.0) if whole else (RARE_STEP, RARE_WAY)))
        for step, (layer, other) in enumerate(zip(plain, weighed, strict=True)):
            graph.add_layer(step, layer, other)
        graph.number_cells()
        return graph

    def add_layer(self, step: int, layer: PlainLayer, weighed: PlainLayer) -> None:
        """Add the cells of a step, and the moves to the next."""
        first, after = len(self.cells), len(self.cells) + len(layer.pairs)
        columns = layer.pairs, layer.row, layer.chance, weighed.chance
        self.cells += [Cell(step, *pair, row, *chances) for pair, row, *chances in zip(*columns, strict=True)]
        for (origin, edge, target, flow), (*_, weight) in zip(layer.moves, weighed.moves, strict=True):
            self.moves.append((first + origin, edge, after + target, flow, weight))

    # ---------------------------------------------------------------------------------------------------------- nodes

    def number_cells(self) -> None:
        """Find the node of each cell: of its row, or of its part of the row, if the state has several likely rows."""
        weights = dict[int, float]()
        for cell in self.cells:
            if cell.row >= 0:
                weights[cell.row] = weights.get(cell.row, 0.0) + cell.weight
        numbers = {row: number for number, row in enumerate(sorted(weights))}
        likely = [row for row in numbers if weights[row] >= self.rare_step]
        states = [int(self.mdp.row_state[row]) for row in likely]
        apart = {row for row, state in zip(likely, states, strict=True) if states.count(state) > 1}
        parts, count = dict[int, int](), len(numbers)
        for state in sorted({int(self.mdp.row_state[row]) for row in apart}):
            pieces = list_pieces(
                [i for i, cell in enumerate(self.cells) if cell.state == state and cell.row in apart], self.cells
            )
            found, count = join_pieces(pieces, self.cells, numbers, count)
            parts |= {i: part for piece, part in zip(pieces, found, strict=True) for i in piece}
            self.pieces += [
                (surround(map(self.box_of, piece)), state, self.cells[piece[0]].row, part)
                for piece, part in zip(pieces, found, strict=True)
            ]
        for i, cell in enumerate(self.cells):
            self.of.append(parts[i] if i in parts else numbers[cell.row] if cell.row >= 0 else self.name_end(cell))
        self.count = count

    def name_end(self, cell: Cell) -> int:
        """Say how a run has ended: at a goal, where nothing is offered at any time, at the end, or given up."""
        offers = self.mdp.row_start[cell.state] < self.mdp.row_start[cell.state + 1]
        if self.mdp.goal[cell.state]:
            return GOAL
        if not offers and self.mdp.depth[cell.state] < self.mdp.horizon:
            return STUCK
        return END if cell.step == self.mdp.horizon else LOST

    def box_of(self, i: int) -> Box:
        """Return the box around a cell."""
        return box_of(self.cells[i])

    @cached_property
    def cells_of(self) -> list[list[int]]:
        """The cells of each node."""
        return [[i for i, own in enumerate(self.of) if own == node] for node in range(self.count)]

    def find_row(self, node: int) -> int:
        """Return what is done in a node."""
        return self.cells[self.cells_of[node][0]].row

    def find_entered(self, node: int) -> list[int]:
        """Return the first and the last step at which a run comes to a node from elsewhere."""
        steps = [self.cells[to].step for origin, _, to, *_ in self.moves if self.of[to] == node != self.of[origin]]
        steps += [0] * (self.of[0] == node)
        return [min(steps), max(steps)]

    @cached_property
    def hopes(self) -> list[int]:
        """For each node whether a goal can be reached from it: 2 with this plan, 1 with another, 0 not at all."""
        wins = {i for i, own in enumerate(self.of) if own == GOAL}
        for origin, _, target, *_ in reversed(self.moves):
            if target in wins:
                wins.add(origin)
        found = []
        for node in range(self.count):
            own = self.cells_of[node]
            needed = [self.cells[i].step + int(self.mdp.steps_to_goal[self.cells[i].state]) for i in own]
            found.append(2 if wins.intersection(own) else int(min(needed) <= self.mdp.horizon))
        return found

    # ----------------------------------------------------------------------------------------------------------- ways

    @cached_property
    def ways(self) -> list[dict[int, list[Way]]]:
        """Where each edge of each node leads, in order of time."""
        return [{edge: self.find_ways(node, edge) for edge in self.list_edges(node)} for node in range(self.count)]

    def list_edges(self, node: int) -> range:
        """Return the edges of what is done in a node."""
        row = self.find_row(node)
        return range(self.mdp.edge_start[row], self.mdp.edge_start[row + 1])

    def find_ways(self, node: int, edge: int) -> list[Way]:
        """Return where an edge of a node leads, in order of time."""
        own = [move for move in self.moves if self.of[move[0]] == node and move[1] == edge]
        chance, weight = sum(move[3] for move in own), sum(move[4] for move in own)
        targets, ways = {self.of[to] for _, _, to, *_ in own}, []
        for target in targets:
            there = [move for move in own if self.of[move[2]] == target]
            if_off = sum(move[4] for move in there) / weight if weight > 0 else 1 / len(targets)
            share = sum(move[3] for move in there) / chance if chance > 0 else if_off
            ways.append(Way(target, share, if_off, surround(self.box_of(move[2]) for move in there)))
        return sorted(ways, key=lambda way: (*way.box[:2], way.target))

    def find_line(self) -> list[int]:
        """Return the nodes of a run in which every action goes as it most often does if it works."""
        mdp, line, i = self.mdp, list[int](), 0
        while self.cells[i].row >= 0:
            line.append(self.of[i])
            edges = range(mdp.edge_start[self.cells[i].row], mdp.edge_start[self.cells[i].row + 1])
            best = max(edges, key=lambda edge: (bool(mdp.working[edge]), float(mdp.edge_chance[edge]), -edge))
            (i,) = [to for origin, edge, to, *_ in self.moves if (origin, edge) == (i, best)]
        return list(dict.fromkeys(line))

    # ----------------------------------------------------------------------------------------------------------- told

    def choose_told(self) -> list[int]:
        """Say of each node whether it is told: it is likely and, if the first has hope, so has it."""
        hopes = self.hopes
        weights = [sum(self.cells[i].weight for i in self.cells_of[node]) for node in range(self.count)]
        return [
            int((node == self.of[0] or weights[node] >= self.rare_step) and (hopes[node] == 2 or hopes[self.of[0]] < 2))
            for node in range(self.count)
        ]

    def walk(self, told: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return the told nodes, in walking order, and the places of those that may be one rule with the one before."""
        line, hopes, order = self.find_line(), self.hopes, list[int]()
        ways = [[way for each in self.ways[node].values() for way in each] for node in range(self.count)]

        def go_on(node: int) -> None:
            for way in ways[node]:
                if way.target >= 0 and told[way.target] and self.is_likely(way) and way.target not in order:
                    order.append(way.target)
                    go_on(way.target)

        order += [node for node in line if told[node]]
        for node in order[:]:
            go_on(node)
        repeating = []
        for place in range(1, len(order)):
            one, other = order[place - 1 : place + 1]
            come = {node for node in order for way in ways[node] if way.target == other}
            same = hopes[one] == hopes[other] and (one in line) == (other in line)
            if same and come <= {one, other} and self.repeats(one, other):
                repeating.append(place)
        return order, repeating

    def is_likely(self, way: Way) -> bool:
        """Return whether a way is told."""
        return max(way.share, way.share_if_off) >= self.rare_way

    def repeats(self, one: int, other: int) -> bool:
        """Return whether a node does again what the one before it did, once that worked, and both try until then."""
        mdp, rows = self.mdp, [self.find_row(one), self.find_row(other)]
        edges = [self.list_edges(node) for node in (one, other)]
        works = [[edge for edge in each if mdp.working[edge]] for each in edges]
        if mdp.row_action[rows[0]] != mdp.row_action[rows[1]] or [len(each) for each in works] != [1, 1]:
            return False
        if mdp.edge_cost[works[0][0]] != mdp.edge_cost[works[1][0]]:
            return False

        def aims(node: int, edge: int) -> set[int]:
            return {way.target for way in self.ways[node][edge] if self.is_likely(way)}

        return all(aims(one, edge) == {other if edge in works[0] else one} for edge in edges[0]) and all(
            aims(other, edge) in ({other}, {other, END}) for edge in edges[1] if edge not in works[1]
        )


def box_of(cell: Cell) -> Box:
    """Return the box around a cell."""
    return cell.step, cell.step, cell.spent, cell.spent


def surround(boxes: Iterable[Box]) -> Box:
    """Return the least box around boxes."""
    first, last, low, high = zip(*boxes, strict=True)
    return min(first), max(last), min(low), max(high)


def meet(one: Box, other: Box) -> bool:
    """Return whether two boxes have something in common."""
    return one[0] <= other[1] and other[0] <= one[1] and one[2] <= other[3] and other[2] <= one[3]


def list_pieces(chosen: list[int], cells: list[Cell]) -> list[list[int]]:
    """Return some cells of a state, in order, piece by piece: neighbours of a step in which the same is done."""
    pieces = list[list[int]]()
    for i in chosen:
        if pieces and [cells[pieces[-1][0]][place] for place in (0, 3)] == [cells[i][place] for place in (0, 3)]:
            pieces[-1].append(i)
        else:
            pieces.append([i])
    return pieces


def join_pieces(
    pieces: list[list[int]], cells: list[Cell], numbers: dict[int, int], fresh: int
) -> tuple[list[int], int]:
    """Return the part of each piece of a state, and the number of the next new one.

    Row by row, each piece joins the latest part that it can join: no piece of another lies in the box around both.
    """
    boxes = [surround(box_of(cells[i]) for i in piece) for piece in pieces]
    rows, part_of = [cells[piece[0]].row for piece in pieces], dict[int, int]()
    for row in sorted(set(rows)):
        parts = list[int]()
        for place in [place for place, own in enumerate(rows) if own == row]:
            for part in reversed(parts):
                around = surround([boxes[place], *(boxes[other] for other in part_of if part_of[other] == part)])
                rivals = [other for other, own in enumerate(rows) if own != row or part_of.get(other, part) != part]
                if not any(meet(around, boxes[other]) for other in rivals):
                    part_of[place] = part
                    break
            else:
                part_of[place] = numbers[row] if not parts else fresh
                fresh += bool(parts)
                parts.append(part_of[place])
    return [part_of[place] for place in range(len(pieces))], fresh
