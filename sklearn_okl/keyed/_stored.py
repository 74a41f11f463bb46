"""Keys that have gone to a file, and how a model gets them back."""

from pathlib import Path

from ._away import fetched
from ._record import Record


def bring_back(keyed, state, names):
    """Put among the entries those of keys that have gone to the store, or are about to."""
    if not (state["n_stored"] or len(state["leaving"])):
        return
    path, mark = home_of(keyed, state)
    missing = [key for key in dict.fromkeys(names) if state["entries"].place(key) is None]
    if not missing:
        return
    back = {key: state["leaving"].get(key) for key in missing}
    back = {key: entry for key, entry in back.items() if entry is not None}
    state["leaving"] = state["leaving"].changed({}, back)
    asked = [key for key in missing if key not in back]
    found = fetched(path, asked, mark) if state["n_stored"] else {}
    if found:
        if any(entry.last > state["t"] for entry in found.values()):
            raise ValueError(
                f"{path} is ahead of this model, which has learnt {state['t']} rows. "
                "Load the model from the store, or give a store of its own."
            )
        check_entries(keyed, state["bank"], found.items(), path)
        back |= shaped(keyed, found)
        state["n_stored"] -= len(found)
    if back:
        state["entries"] = state["entries"].changed(back)


def home_of(keyed, state):
    """Return the path of the file that keys go to, and the mark of the one they are in."""
    if keyed.store is None:
        raise ValueError(
            f"store=None, and {state['n_stored'] + len(state['leaving'])} keys of this model "
            "have gone to its store, or are about to. Set the path again, or call 'fit' to "
            "start afresh."
        )
    given, path, mark = state["home"] or ("", "", 0)
    return path if given == str(keyed.store) else resolved(keyed.store), mark


def has_limits(keyed):
    """Tell whether keys go, of a fitted model."""
    return keyed._as_built("max_keys") is not None or keyed._as_built("idle") is not None


def resolved(path):
    """Return a path as text that means the same file in any folder."""
    return str(Path(path).resolve())


def check_records(keyed, holder):
    """Refuse records from a file that have another size than the others."""
    for name in ("entries", "leaving"):
        check_entries(keyed, keyed._state["bank"], keyed._state[name].items(), holder)


def check_entries(keyed, shared, entries, holder):
    """Do so with some entries by key."""
    bank = keyed._bank()
    for key, entry in entries:
        if type(entry.model) is Record and not (
            bank is not None and shared is not None and bank.fits(entry, shared)
        ):
            raise ValueError(f"{holder} is damaged: the key {key!r} has another size than others.")


def shaped(keyed, entries):
    """Return entries from a file, by key, with the rows of young keys as rows."""
    bank, shared = keyed._bank(), keyed._state["bank"]
    return {
        key: bank.shaped(entry, shared) if type(entry.model) is Record else entry
        for key, entry in entries.items()
    }
