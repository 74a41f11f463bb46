"""Experts: many small models that learn the same rows, and what makes one forecast of theirs.

The middle floor. It sees rows as `rows` shows them and targets in a unit, and knows of no fault and
no change: whoever asks it to learn a target has decided that it is to be learnt.

Who is there is a *plan*, `_plan`: kernels of several bandwidths and ridges, linear experts, some
that forget, as many as the work of a budget allows. Those of one shape stand in a *bank*, `_banks`,
whose arrays have a leading axis of experts, so that a block of rows is a few products for all of
them; all targets of an expert share its inverse. After 512, 2048 and 8192 rows others are born into
the room that a bank has left: the best ones so far and their neighbours, with scales that the best
ones' slopes suggest. They learn for a burn-in of 256 rows before they are heard.

`_experts` is the one class of all this: it lets the banks learn, counts who is heard, keeps their
losses, and makes the table that a user reads. What it does not know is what a target is. That is
said by one of two kinds of the same few methods:

* `_numbers`: a target is a number, or several; experts are scored by squared errors; each target
  has a mixture of its own, a stack of BOA, fading likelihoods and ridges, and after the first birth
  a boosted chain, `_boosting`, that learns what the mixture leaves.
* `_classes`: a target is a class, which experts learn as -1 and +1, or as 0 and 1 of each; they are
  scored on all classes together; forecasts are calibrated and mixed in the log loss. How is in
  `aggregators`, where all likelihoods are.

Where columns jump, alone or in pairs, a tree on the rows as they came is one more expert, and one
on what a linear expert leaves another, `_leaves`: they are tried on rows kept for that, and cost
nothing where they would not have helped.

Batch models may stand beside the kernels, `_trees`: one sees the rows, and one what the kernels say
besides. They are fitted anew as the past grows, `meta/_fits`; what the second one learns and how
three forecasts become one differs by kind, `_number_trees` and `_class_trees`.

Forecasts of experts are arrays of shape (targets, rows, experts), NaN where an expert is yet to be
born. A kind that somebody adds says how many targets there are, what they look like to a ridge
regression, what an error counts, and how forecasts are mixed.
"""
