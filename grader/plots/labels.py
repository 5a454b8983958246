"""Places the labels of points in a picture so that they cover neither each other nor anything drawn.

Each label tries places on rings around its point; the cheapest is taken, given where the others are, and all
are tried again until none moves. No randomness: the same input gives the same places. Unit: points (1/72 in).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

RINGS = (5.0, 10.0, 17.0, 26.0, 38.0, 54.0, 74.0, 100.0)
ANGLES = tuple(math.tau * step / 24 for step in range(24))
ROUNDS = 8  # 13 labels of a step settle after two or three

# Prices, in points of distance from the label's point: to cover text is out of the question, a line is bad.
_COVERS = 400.0
_COVERS_BY_AREA = 8.0
_LEADER_HITS_LABEL = 300.0
_LEADERS_CROSS = 200.0


@dataclass(frozen=True)
class Box:
    """An upright rectangle."""

    left: float
    bottom: float
    right: float
    top: float

    def overlap(self, other: "Box") -> float:
        """The area that both cover."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.top, other.top) - max(self.bottom, other.bottom)
        return width * height if width > 0 and height > 0 else 0.0

    def nearest(self, x: float, y: float) -> tuple[float, float]:
        """The point of the rectangle that is nearest to (x, y)."""
        return min(max(x, self.left), self.right), min(max(y, self.bottom), self.top)


@dataclass(frozen=True)
class Label:
    """A text of this size that belongs to a round marker at (x, y)."""

    x: float
    y: float
    radius: float
    width: float
    height: float


@dataclass(frozen=True)
class Obstacle:
    """Something drawn; `price` says how bad it is to cover it, 1 for text and markers, less for lines."""

    box: Box
    price: float = 1.0


def place(labels: Sequence[Label], obstacles: Sequence[Obstacle], frame: Box) -> list[Box]:
    """Where each label goes: its box, inside `frame` wherever there is room.

    A leader line runs from the point to the nearest point of the box; it avoids other labels and leaders.
    """
    markers = [_marker(each) for each in labels]
    # What does not depend on the other labels is counted once.
    candidates = [
        [
            (ring + _fixed_price(box, index, markers, obstacles, frame), box)
            for ring in RINGS
            for box in _around(label, ring)
        ]
        for index, label in enumerate(labels)
    ]
    # Whoever chooses first stands in the way of the others: four orders are tried.
    order = list(range(len(labels)))
    by_height = sorted(order, key=lambda index: labels[index].y)
    by_width = sorted(order, key=lambda index: -labels[index].width)
    tried = [_settle(labels, candidates, each) for each in (order, order[::-1], by_height, by_width)]
    return min(tried, key=lambda each: each[0])[1]


Candidates = Sequence[Sequence[tuple[float, Box]]]


def _settle(labels: Sequence[Label], candidates: Candidates, order: Sequence[int]) -> tuple[float, list[Box]]:
    """Places found when the labels choose in this order, again and again, and what they cost in all."""
    chosen: dict[int, Box] = {}
    total = 0.0
    for _ in range(ROUNDS):
        before, total = dict(chosen), 0.0
        for index in order:
            others = [(labels[other], box) for other, box in chosen.items() if other != index]
            prices = [price + _price_among(labels[index], box, others) for price, box in candidates[index]]
            cheapest = min(prices)
            total += cheapest
            chosen[index] = candidates[index][prices.index(cheapest)][1]
        if chosen == before:
            break
    return total, [chosen[index] for index in range(len(labels))]


def _marker(label: Label) -> Box:
    r = label.radius
    return Box(label.x - r, label.y - r, label.x + r, label.y + r)


def _middle_half(box: Box) -> Box:
    width, height = (box.right - box.left) / 4, (box.top - box.bottom) / 4
    return Box(box.left + width, box.bottom + height, box.right - width, box.top - height)


def _around(label: Label, ring: float) -> list[Box]:
    """Boxes whose edge is about `ring` from the marker's, in every direction."""
    boxes = []
    reach = label.radius + ring
    for angle in ANGLES:
        # The box's centre moves out along the ray, by its own half size, so that no direction gets too near.
        x = label.x + math.cos(angle) * (reach + label.width / 2)
        y = label.y + math.sin(angle) * (reach + label.height / 2)
        boxes.append(
            Box(x - label.width / 2, y - label.height / 2, x + label.width / 2, y + label.height / 2)
        )
    return boxes


def _fixed_price(
    box: Box, index: int, markers: Sequence[Box], obstacles: Sequence[Obstacle], frame: Box
) -> float:
    area = (box.right - box.left) * (box.top - box.bottom)
    outside = area - box.overlap(frame)
    price = _covered(outside) * 2 if outside > 1e-6 else 0.0
    price += sum(_covered(box.overlap(marker)) for marker in markers)
    price += sum(each.price * _covered(box.overlap(each.box)) for each in obstacles)
    # A line from the middle of the marker to the box that runs through another marker points at two ops.
    middle = markers[index]
    x, y = (middle.left + middle.right) / 2, (middle.bottom + middle.top) / 2
    leader = ((x, y), box.nearest(x, y))
    # Its middle half only: markers may overlap, and then a leader starts inside the other one.
    price += sum(
        _LEADER_HITS_LABEL
        for other, marker in enumerate(markers)
        if other != index and _segment_hits(leader, _middle_half(marker))
    )
    return price


def _price_among(label: Label, box: Box, others: Sequence[tuple[Label, Box]]) -> float:
    price = 0.0
    leader = ((label.x, label.y), box.nearest(label.x, label.y))
    for other, other_box in others:
        price += _covered(box.overlap(other_box))
        other_leader = ((other.x, other.y), other_box.nearest(other.x, other.y))
        if _segment_hits(leader, other_box):
            price += _LEADER_HITS_LABEL
        if _segment_hits(other_leader, box):
            price += _LEADER_HITS_LABEL
        if _segments_cross(leader, other_leader):
            price += _LEADERS_CROSS
    return price


def _covered(area: float) -> float:
    return _COVERS + _COVERS_BY_AREA * area if area > 0 else 0.0


Segment = tuple[tuple[float, float], tuple[float, float]]


def _segment_hits(segment: Segment, box: Box) -> bool:
    """Whether a straight line passes through a box (Liang and Barsky's clipping)."""
    (x0, y0), (x1, y1) = segment
    start, end = 0.0, 1.0
    edges = (
        (x0 - x1, x0 - box.left),
        (x1 - x0, box.right - x0),
        (y0 - y1, y0 - box.bottom),
        (y1 - y0, box.top - y0),
    )
    for speed, room in edges:
        if speed == 0:
            if room < 0:
                return False
        elif speed < 0:
            start = max(start, room / speed)
        else:
            end = min(end, room / speed)
    return start < end


def _segments_cross(one: Segment, other: Segment) -> bool:
    (a, b), (c, d) = one, other
    return _turn(a, b, c) * _turn(a, b, d) < 0 and _turn(c, d, a) * _turn(c, d, b) < 0


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
