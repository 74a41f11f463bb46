"""What calls cost beside each other, on a machine where others are at work."""

import time

from benchmarks.speed.ratios import in_turns


def processor_times(*functions, turns=5):
    """Return the processor time of each call, in seconds: the least of so many turns.

    Three things keep the load of a machine out of the ratios of what is returned. Time in which
    the process waits does not count. The calls take turns, so that a load that comes and goes
    meets all of them. And of the turns that one counts which others disturbed least: they only
    ever add to the time. What is left are slower caches, for which a bound leaves half as much
    again, better twice as much, as a quiet machine measures.
    """
    return in_turns(functions, turns, clock=time.process_time).min(axis=1)
