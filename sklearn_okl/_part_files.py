"""Files that are replaced as a whole or not at all.

The new content is written to a part file beside the old one, brought to the disk and put in its
place. A writer holds a lock on its part file for as long as it lives; one that is killed leaves the
file without the lock, and the next writer of the same name removes it.
"""

import os
import secrets
from contextlib import suppress
from functools import partial
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows, where an open file cannot be removed anyway
    fcntl = None

_ATTEMPTS = 100
_PLACES = 64  # names of part files, so that nobody has to look through the folder


def target_of(path):
    """Return the file to be replaced: of a symbolic link what it points to, there or not yet."""
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OSError(f"{path} is a symbolic link that leads back to itself. Remove it.")
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder. Give a file in it, such as 'model.skops'.")
    if target.exists() and not target.is_file():
        raise ValueError(f"{path} is a device or a pipe, which no file can replace. Give a file.")
    if target.parent.exists() and not target.parent.is_dir():
        raise NotADirectoryError(f"{target.parent} is a file, not a folder. Give another path.")
    if not target.parent.exists():
        raise FileNotFoundError(
            f"The folder {target.parent} does not exist. Create it first, or save to another one."
        )
    return target


def replace(path, content):
    """Give a file new content; whenever this is stopped, the file is the old one or the new one."""
    _remove_abandoned(path)
    for _ in range(_ATTEMPTS):
        if _try_to_replace(path, content):
            return
    raise OSError(
        f"{path} could not be replaced: its folder, or the part files in it, vanished meanwhile. "
        "Look who removes them, and save again."
    )


def _try_to_replace(path, content):
    """Replace a file unless somebody takes the part file away; tell whether that was done."""
    # in the same folder, for a file can be put in place of another on the same disk only
    part = _part_of(path, secrets.randbelow(_PLACES))
    mode = path.stat().st_mode & 0o777 if path.exists() else None
    try:
        with open(
            part, "xb", opener=partial(os.open, mode=0o666 if mode is None else mode)
        ) as file:
            _lock(file)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            if mode is not None:
                os.chmod(part, mode)  # the umask may have withheld some of it
            if fcntl is None:
                file.close()  # only closed files can be moved there
            os.replace(part, path)  # under the lock
    except (FileExistsError, FileNotFoundError):  # or removed by another writer before the lock
        return False
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    _bring_to_the_disk(path.parent)
    return True


def _part_of(path, place):
    return path.with_name(f".{path.name}.{place:08x}.part")


def _remove_abandoned(path):
    """Remove the part files of this name whose writers are dead."""
    for part in (_part_of(path, place) for place in range(_PLACES)):
        with suppress(OSError):  # there is none, or it is of a live writer, or not ours to remove
            if fcntl is None:
                part.unlink()
            elif part.is_file():
                with open(part, "rb") as file:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    part.unlink()


def _lock(file):
    """Keep other writers from removing a part file."""
    if fcntl is not None:
        with suppress(OSError):  # a file system without locks, where nobody gets one to remove it
            fcntl.flock(file, fcntl.LOCK_EX)


def _bring_to_the_disk(folder):
    """Make the entries of a folder outlast a power cut, where this can be asked for."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
