"""Rows: from what a user hands over to what the experts see, by what was known before each row.

The lowest floor. It knows nothing of experts, of forecasts or of faulty targets.

A row passes three places on its way up. First `_columns` makes numbers of columns of any kind: a
category is its number in the order of first appearance, a date is six numbers, and what is said to
be missing is NaN. That happens once a call, before anything is learnt, so that an error in a column
leaves no trace.

Then `_encoding` makes of a category what is known of its targets: their mean, shrunk, and an
indicator where a column has few categories. Numbers go through as they are. A column of few numbers
is besides seen by a regression tree, in `_steps`, and where numbers are missing one more column
says what that alone says of the target. Which of all this is shown is a *layout*, `_layout`: the
first rows say what they ask for after 8, 16, 32 and 64 of them, and where that is new the model
begins anew with the rows that it has kept.

Last `_inputs` standardises rows by the moments of the rows before them, appends the latest targets,
and ranks where the budget has them; `_gaps` fills what is missing by the other columns of the row.
Kernels see inputs that are clipped, linear experts see *steady* ones, whose unit stays as it was
first known.

Everything here exists twice. `learn` takes rows in order and says what was to be seen before each
of them; `look` takes rows each as if it were the next one and learns nothing. Labels may be late by
some rounds: then both read what was known as many rounds before, of which the state keeps the past.
Several targets, or classes, have what is learnt of targets for each of them: the means of
categories, the trees, the latest values. What is learnt of columns alone they share.
"""
