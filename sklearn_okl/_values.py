"""Values: objects that are what their parameters are, such as kernels and losses."""


class ValueObject:
    """Base of what is equal if its class and its parameters, kept as attributes, are.

    They are numbers, strings or tuples, and are not changed once the object is made.
    """

    def __eq__(self, other):
        return vars(self) == vars(other) if type(self) is type(other) else NotImplemented

    def __hash__(self):
        return hash((type(self), frozenset(vars(self).items())))

    def __repr__(self):
        parameters = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({parameters})"
