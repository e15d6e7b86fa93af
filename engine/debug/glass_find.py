"""What a command is about: the tape, a line of it, a matrix. Knows no debugger (see glass_show.py); `debugger` brings

    evaluate(expression)       a Value of the selected frame, or Unreadable
    frames(newest=False)       the selected (or the newest) frame and its callers; frame.variables() gives
                               (name, kind of what it holds or points at, is it an argument?, a function that reads it),
                               frame.has(name) says whether a variable is called so
    call(tape, function, ...)  the text that a function of the program returns, or NotRunning on a core file
    trap(on)                   whether an invalid operation stops the program, in words
"""
import re

from glass_show import NoLine, Unreadable, line_of, lines, text


class NotRunning(Unreadable):
    """There is no process that could compute anything."""


def plain(value):
    """The object behind pointers."""
    while value.is_pointer:
        if int(value) == 0:
            raise Unreadable("a null pointer")
        value = value.target()
    return value


def tape_in(value):
    """The living tape that `value` is, or that one of its members is or points at (a Var, a Step, a lesson's Page)."""
    try:
        value = plain(value)
        if value.kind == "Tape":
            lines(value)
            return value
        for name, kind in value.members():
            if kind == "Tape":
                return tape_in(value[name])
    except Unreadable:
        pass  # optimized out, or not constructed yet
    return None


def find_tape(debugger, expression=""):
    if expression:
        tape = tape_in(debugger.evaluate(expression))
        if tape is None:
            raise Unreadable("%s is no tape, and has none that is alive" % expression)
        return tape
    for frame in debugger.frames():
        for name, kind, is_argument, read in sorted(frame.variables(), key=lambda v: v[0] != "tape"):
            tape = tape_in(read())
            if tape is not None:
                return tape
    raise Unreadable("no tape in this frame or its callers; say which one: tape EXPRESSION")


def running(debugger, tape):
    """The line whose op is at work right now, or -1."""
    for frame in debugger.frames(newest=True):
        for name, kind, is_argument, read in frame.variables():
            if is_argument and kind == "Step":
                step = plain(read())
                if plain(step["tape"]).address == tape.address:
                    return int(step["id"])
    return -1


def named(tape, name):
    """The last line of that name, or None."""
    first, n = lines(tape)
    return next((id for id in reversed(range(n)) if text(first.at(id)["name"]) == name), None)


def variable(debugger, what):
    """What an expression, or a variable of the selected frame, holds. A bare word that is no such variable is Unreadable: it may
    be the name of a line, and never some global of a library."""
    if re.fullmatch(r"\w+", what) and not debugger.frames()[0].has(what):
        raise Unreadable("no variable of this frame is called %s" % what)
    return debugger.evaluate(what)


def split_tape(debugger, what):
    """ "fused:Y" is Y of the tape `fused`. """
    found = re.fullmatch(r"([^:\"]+):([^:].*)", what)
    return (find_tape(debugger, found.group(1)), found.group(2)) if found else (None, what)


def find_line(debugger, what):
    """(tape, id) of what a student calls a line: 9, %9, a Var, any whole number, a name, TAPE:NAME."""
    tape, what = split_tape(debugger, what.strip())
    id = None
    if re.fullmatch(r"%?\d+", what):
        id = int(what.lstrip("%"))
    elif tape is None:
        try:
            value = variable(debugger, what)
            if value.kind == "Var":
                line_of(value)
                return tape_in(value), int(value["id"])
            if value.is_number:
                id = int(value)
        except NoLine:
            raise
        except Unreadable:
            pass  # not a variable here: perhaps the name of a line
    tape = tape or find_tape(debugger)
    if id is None:
        id = named(tape, what.strip('"'))
    if id is None:
        raise Unreadable("%s is no line of the tape: give its number or its name (the command `tape` lists them), "
                         "or a variable that holds it" % what)
    n = lines(tape)[1]
    if not 0 <= id < n:
        raise Unreadable("the tape has no line %%%d: " % id + ("its lines are %%0 to %%%d" % (n - 1) if n else "it is empty"))
    return tape, id


def find_mat(debugger, what):
    """(title, Mat): a variable, else the value of a line, or its gradient: A, dA, 9, d9, TAPE:dA."""
    tape, name = split_tape(debugger, what.strip())
    try:
        value = plain(variable(debugger, name)) if tape is None else None
        if value is not None and value.kind in PART:
            return name, PART[value.kind](value)
    except NoLine:
        raise
    except Unreadable:
        pass
    try:
        tape, id = find_line(debugger, what)
        field = "value"
    except Unreadable:
        if not name.startswith("d"):
            raise
        tape, id = find_line(debugger, what[:-len(name)] + name[1:])
        field = "grad"
    m = lines(tape)[0].at(id)[field]
    if int(m["data"]) == 0:
        raise Unreadable("%s: no gradient yet" % what if field == "grad" else "%s: no value yet" % what)
    return what, m


PART = {"Mat": lambda v: v, "Matrix": lambda v: v["view_"], "Param": lambda v: v["value"]["view_"],
        "Node": lambda v: v["value"], "Var": lambda v: line_of(v)["value"]}


def entries(m):
    """Every number of a Mat, row by row; a view's gaps are skipped."""
    rows, cols, ld = int(m["rows"]), int(m["cols"]), int(m["ld"])
    if int(m["data"]) == 0 or rows < 0 or cols < 0 or (ld < cols and rows > 1):
        raise Unreadable("no matrix there" if int(m["data"]) == 0 else "not set yet")
    if rows * cols > 1 << 22:
        raise Unreadable("%d x %d: more than 4 million numbers" % (rows, cols))
    return [list(m["data"].numbers(cols, r * ld)) for r in range(rows)]
