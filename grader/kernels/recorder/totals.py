"""Totals that programs build up with atomics: a plain load in the same launch sees any part of them.

An atomic orders accesses to other elements (locks, flags, last-arriver counters). It does not tell that all others
have added: a program that adds and then loads has its own part in the total, and whichever came before.
"""

from typing import TYPE_CHECKING

import numpy as np

from . import causes
from .frames import place_of_access
from .views import Elements, View

if TYPE_CHECKING:
    from .launches import LaunchRecord


def loaded(record: "LaunchRecord", view: View, elements: Elements) -> None:
    """Judge a plain load of elements to which programs of this launch may have added, and keep who loads them."""
    number = record.number()
    adders = view.first_adder[elements]
    bad = record.unordered(adders, number, elements, None)
    if bad is not None:
        where = int(np.argmax(bad))
        found = (int(elements[where]), number, int(adders[where]), place_of_access())
        record.found(causes.total_race(record, view, *found))
    elif adders.any():
        totals = elements[adders != 0]
        view.total_reader[totals] = number
        view.total_reader_epoch[totals] = record.ordering(number)
        view.total_loads[number] = place_of_access()


def added(record: "LaunchRecord", view: View, elements: Elements, number: int) -> None:
    """Judge an atomic that adds to elements which another program has loaded as if they were complete."""
    if not view.total_loads:
        return
    readers = view.total_reader[elements]
    bad = record.unordered(readers, number, elements, view.total_reader_epoch)
    if bad is not None:
        where = int(np.argmax(bad))
        reader = int(readers[where])
        found = (int(elements[where]), reader, number, view.total_loads[reader])
        record.found(causes.total_race(record, view, *found))


def keep(view: View, elements: Elements, number: int) -> None:
    """Remember who added to each element first."""
    view.had_adders = True
    adders = view.first_adder
    adders[elements[adders[elements] == 0]] = number
