"""A model that is fitted in a thread of its own, while the stream goes on."""

from threading import Thread

from sklearn import config_context, get_config


class BackgroundFit:
    """A model that a function returns, which runs in the background from now on.

    Whoever needs the model waits for it, and so do pickles and files, which hold the model alone.

    Parameters
    ----------
    function : callable
        Called once, without arguments; what it raises is raised where the model is asked for.
    """

    __slots__ = ("_error", "_model", "_thread")  # what looks for the parts of a model finds none

    def __init__(self, function):
        self._model, self._error = None, None
        self._thread = Thread(target=self._run, args=(function, get_config()), daemon=True)
        self._thread.start()

    def _run(self, function, config):
        try:
            with config_context(**config):  # of the thread that asked for it
                self._model = function()
        except BaseException as error:
            self._error = error

    def model(self):
        """Wait, and return the model."""
        if self._thread is not None:
            self._thread.join()
        if self._error is not None:
            raise self._error
        return self._model

    def __getstate__(self):
        return {"_model": self.model()}

    def __setstate__(self, state):
        self._model, self._error, self._thread = state["_model"], None, None

    def __deepcopy__(self, memo):
        return self  # a model that was fitted is never changed
