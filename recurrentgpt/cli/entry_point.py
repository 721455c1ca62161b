"""Run one command: the only place where an exception ends, as a sentence and an exit code."""

from __future__ import annotations

import errno
import functools
import io
import os
import re
import sys
import traceback
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import typer

from recurrentgpt.cli.app import app
from recurrentgpt.schema.context import SETTINGS
from recurrentgpt.schema.errors import BAD_USAGE, RecurrentGPTError, SettingsError, StorageError

_OF_STREAMS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
"""What goes wrong when standard output is written: a full disk, a limit, a lost device, a closed file."""


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    _prepare_streams()
    try:
        code = _command().main(args=arguments, prog_name="recurrentgpt", standalone_mode=False)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except (BrokenPipeError, SystemExit):
        # Whoever read the output has had enough, as `head` does; for that, typer raises SystemExit.
        _silence(1)
        return 0
    except Exception as error:  # noqa: BLE001 - whatever it is, the user is told in a sentence
        return _report(_of_value(_of_setting(error, arguments)), json="--json" in arguments)
    return code if isinstance(code, int) else 0


@functools.cache
def _command() -> Any:
    """Return the command with all its options; it takes a while to make, and tests run it many times in one process."""
    return typer.main.get_command(app)


def exit_code(error: Exception) -> int:
    """Return what the command leaves with: 2 for bad usage, 1 for a failure."""
    # Releases of typer differ in the class of an error of usage, and all of them have this.
    return int(getattr(error, "exit_code", 2 if isinstance(error, BAD_USAGE) else 1))


def _report(error: Exception, *, json: bool) -> int:
    """Say what went wrong and return the exit code."""
    from recurrentgpt.cli.terminal.console import complain, print_json, unwritable, visible
    from recurrentgpt.cli.terminal.settings_input import spell_options

    if os.environ.get("RECURRENTGPT_DEBUG"):
        traceback.print_exception(error)
    of_a_stream = isinstance(error, OSError) and error.filename is None and error.errno in _OF_STREAMS
    if isinstance(error, OSError) and (of_a_stream or isinstance(error, io.UnsupportedOperation)):
        error = unwritable(error)
    show = getattr(error, "show", None)
    try:
        if show is not None:
            message = str(getattr(error, "format_message", error.__str__)())
            show()
        elif isinstance(error, RecurrentGPTError):
            complain(message := spell_options(str(error)))
        elif isinstance(error, OSError) and error.filename is not None:
            complain(message := f"{error.filename} cannot be used ({error.strerror}): name another place.")
        else:
            what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            complain(message := f"Unexpected {what}. Set RECURRENTGPT_DEBUG=1 to see where it happened.")
    except OSError:
        _silence(2)
    try:
        if json and message:
            print_json({"event": "error", "message": visible(message)})
        sys.stdout.flush()
    except (OSError, StorageError):
        _silence(1)
    return exit_code(error)


def _of_setting(error: Exception, arguments: list[str]) -> Exception:
    """Return the refusal of an option's value in the words in which everything else refuses it, where it is a setting's."""
    option = getattr(error, "param", None)
    if setting := SETTINGS.get(getattr(option, "name", None) or ""):
        words = [part for word in arguments for part in (word.split("=", 1) if word.startswith("--") else [word])]
        values = [value for name, value in pairwise(words) if name in getattr(option, "opts", ())]
        try:
            for value in values:
                setting.checked(value)
        except SettingsError as refusal:
            return refusal
    return error


def _of_value(error: Exception) -> Exception:
    """Return the refusal of a value that has not its option's type in our words, where pydantic's tell of parsing and input."""
    option, found = getattr(error, "param", None), getattr(error.__cause__, "errors", None)
    if option is None or found is None:
        return error
    problem = found()[0]
    bounds = problem.get("ctx", {})
    match problem["type"]:
        case "int_parsing" | "int_from_float" | "int_parsing_size":
            allowed = "a whole number"
        case "float_parsing":
            allowed = "a number"
        case "greater_than_equal":
            allowed = f"{bounds['ge']:,} or more"
        case "less_than_equal":
            allowed = f"at most {bounds['le']:,}"
        case "value_error" if " is not one of " in problem["msg"]:
            allowed = "one of " + ", ".join(re.findall(r"'([^']*)'", problem["msg"].partition(" is not one of ")[2]))
        case _:
            return error
    name = max(option.opts, key=len) if option.param_type_name == "option" else option.metavar or option.name.upper()
    return SettingsError(f"{name} is {allowed}; it is {str(problem['input'])!r:.60}.")


def _prepare_streams() -> None:
    """Make every character printable: pipes and files carry UTF-8, a terminal shows ? for what it lacks."""
    # A stream that the caller closed is None. Its place is taken, so that no database gets its number: by something to
    # read, which refuses what is written to it, for standard output; remarks that nobody wants are dropped.
    sys.stdin = sys.stdin or os.fdopen(os.open(os.devnull, os.O_RDONLY))
    sys.stdout = sys.stdout or os.fdopen(os.open(os.devnull, os.O_RDONLY))
    sys.stderr = sys.stderr or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace", **({} if stream.isatty() else {"encoding": "utf-8"}))


def _silence(number: int) -> None:
    """Keep Python from complaining at exit that a stream, 1 or 2, does not take what was written to it."""
    stream = sys.stdout if number == 1 else sys.stderr
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, stream.fileno())
    except (OSError, ValueError):
        setattr(sys, "stdout" if number == 1 else "stderr", os.fdopen(nowhere, "w"))
