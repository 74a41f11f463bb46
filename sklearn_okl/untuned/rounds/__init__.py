"""Rounds: when rows are forecast, learnt and scored, and what is done in between.

The upper floor, and the only one that knows a stream's clock. `_rounds` has the one loop for
numbers and for classes: learn rows up to where something is due, do it, go on. Due are the looks at
the first rows, `_restarts`, after which columns may be shown otherwise and the model learns its
rows again, and the births of experts. `_model` is the loop's face: parameters, attributes, and how
rows of any container reach it.

Two things differ between a regressor and a classifier. A round is scored by squared errors, from
the sizes of which intervals come, or by the log loss, `_scores`; and a *guard* may
watch the targets. A class has no unit and is never a fault, so a classifier has none. A guard,
`_guard`, ends a block of rows before a target in doubt, which is then met alone, and asks three
others what to do:

* `_targets`, the fence: which targets are in doubt, what they teach all the same, when several of
  them are a new level or a new unit. It holds origin and unit, so that experts learn numbers near 0
  of size 1 and need not know that a sensor was replaced.
* `_trust`: with the first target in doubt a *twin* of the model begins that believes every target.
  Both go on and are mixed by odds, until one of them has been far ahead.
* `_renewal`: where a block's errors are larger than they have long been, a model begins anew beside
  the one that stands, and replaces it if it proves better for long.

Rows of a block are learnt before it is known that one of them is in doubt; then the state goes back
to its snapshot, `_snapshot`, and learns those before it once more. So clean streams pay next to
nothing for the guard.

The state is a dict of arrays, numbers and tuples. Nothing in it is written that a copy may hold, as
`partial_fit` learns on a copy and the shell installs that at the end of a call: an error, a bad row
or Ctrl-C leaves the model as it was. Where a stream is cut into calls changes nothing: all that is
due depends on the number of the round. With late labels forecasts read what was known some rounds
before; a model that has just begun anew keeps the former one while its forecasts have no labels.
"""
