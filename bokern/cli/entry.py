"""From arguments to an exit code; every error in one line."""

from __future__ import annotations

import sys
import traceback
import warnings
from collections.abc import Sequence
from importlib import import_module

from bokern.cli.arguments import parse
from bokern.cli.output import Output
from bokern.errors import BokernError, BokernWarning, InputError

__all__ = ["main"]

SUCCESS = 0
FAILURE = 1
BAD_INPUT = 2
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: Arguments without the program's name; those of the process by default.

    Returns:
        0 when done, 1 when the work failed, 2 for bad usage or input, 130 when
        interrupted. A closed pipe silences the output and changes nothing else.
    """
    out, err = Output(sys.stdout), Output(sys.stderr)
    debug = False
    try:
        arguments = parse(argv)
        debug = arguments.debug
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("default", BokernWarning)
            _show_warnings(err)
            action = getattr(import_module(arguments.module), arguments.action)
            return int(action(arguments, out, err))
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else SUCCESS
    except KeyboardInterrupt:
        err.line("bokern: interrupted")
        return INTERRUPTED
    except BokernError as error:
        return _fail(err, str(error), debug, isinstance(error, InputError))
    except Exception as error:  # the last line of defence: no traceback unasked
        what = f"unexpected {type(error).__name__}: {error}"
        return _fail(err, f"{what} (run again with --debug for details)", debug, False)
    finally:
        out.close()
        err.close()


def _fail(err: Output, message: str, debug: bool, bad_input: bool) -> int:
    if debug:
        err.line(traceback.format_exc().rstrip())
    err.line(f"bokern: error: {' '.join(message.split())}")
    return BAD_INPUT if bad_input else FAILURE


def _show_warnings(err: Output) -> None:
    """Warnings in one line each, without the place in our source."""

    def show(message: Warning | str, *_: object, **__: object) -> None:
        err.line(f"bokern: warning: {' '.join(str(message).split())}")

    warnings.showwarning = show
