"""glassgrad in gdb: matrices print as tables, and two commands show the tape.

    (gdb) source engine/debug/glass_gdb.py      or start gdb with -x engine/debug/glass_gdb.py
    (gdb) p A                                   "3 x 3" and its rows; Var, Node, Param, Keep, ... alike
    (gdb) tape                                  every line; also: tape EXPRESSION
    (gdb) node 9                                one line in full; afterwards $node is that line
"""
import os
import sys

import gdb

sys.dont_write_bytecode = True  # no __pycache__ among the sources
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import glass_cuda  # noqa: F401 the command cuda
from glass_printers import Unreadable, gradient_state, inputs, kind, lines, place, plain, shape, show_node, text


# ---- finding a tape ---------------------------------------------------------------------------------------------


def tape_in(value):
    """The living tape that `value` is, or that one of its members is or points at (a Var, a Step, a lesson's Page)."""
    try:
        value = plain(value)
        if kind(value.type) == "Tape":
            lines(value)
            return value
        type_ = value.type.strip_typedefs()
        for field in type_.fields() if type_.code == gdb.TYPE_CODE_STRUCT else ():
            target = field.type.target() if field.type.code == gdb.TYPE_CODE_PTR else field.type
            if kind(target) == "Tape":
                return tape_in(value[field.name])
    except (Unreadable, gdb.error):
        pass  # optimized out, or not constructed yet
    return None


def variables(frame):
    """Its arguments and locals, `tape` first."""
    try:
        block = frame.block()
    except RuntimeError:
        return []  # no debug information
    found = []
    while block:
        found += [s for s in block if s.is_variable or s.is_argument]
        block = None if block.function else block.superblock
    return sorted(found, key=lambda s: s.name != "tape")


def frames(frame):
    while frame:
        yield frame
        frame = frame.older()


def evaluate(expression):
    try:
        return gdb.parse_and_eval(expression)
    except gdb.error as why:
        raise gdb.GdbError(str(why)) from None


def find_tape(expression=""):
    if expression:
        tape = tape_in(evaluate(expression))
        if tape is None:
            raise gdb.GdbError("%s is no tape, and has none that is alive" % expression)
        return tape
    for frame in frames(gdb.selected_frame()):
        for symbol in variables(frame):
            tape = tape_in(symbol.value(frame))
            if tape is not None:
                return tape
    raise gdb.GdbError("no tape in this frame or its callers; say which one: tape EXPRESSION")


def running(tape):
    """The line whose op is at work right now, or -1."""
    for frame in frames(gdb.newest_frame()):
        for s in variables(frame):
            if s.is_argument and kind(s.type) == "Step":
                step = plain(s.value(frame))
                if int(plain(step["tape"]).address) == int(tape.address):
                    return int(step["id"])
    return -1


# ---- commands ---------------------------------------------------------------------------------------------------


class TapeCommand(gdb.Command):
    """List every line of the tape.
tape [EXPRESSION]

  =>  %9  softmax  "A"  3 x 3  <- %8  has grad  layers/attention/attention.cpp:16

means: line 9 was made by softmax from line 8, is called "A", holds 3 x 3 numbers, and backward() has given
it a gradient; it was recorded at line 16 of that file. "=>" marks the line whose op is running right now.

EXPRESSION is a Tape, a Var, or anything that has a Tape as a member. Without it the tape is looked for in
the selected frame, then in its callers. See also: node."""

    def __init__(self):
        super().__init__("tape", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        tape = find_tape(argument)
        first, n = lines(tape)
        now, swept, bad = running(tape), int(tape["swept_from_"]), int(tape["first_nonfinite"])
        rows = []
        for id in range(n):
            node = (first + id).dereference()
            name, finite = text(node["name"]), ("", "-inf meant", "NOT FINITE")[int(node["finite"])]
            rows.append(("=>" if id == now else "", ("%%%d" % id).rjust(len("%%%d" % (n - 1))), text(node["op"]),
                         '"%s"' % name if name else "", shape(node["value"]),
                         "<- " + inputs(node) if int(node["n_in"]) else "", gradient_state(node), finite,
                         text(node["scope"]), place(node["where"])))
        widths = [max(map(len, column)) for column in zip(*rows)]
        out = ["%d lines" % n + (", swept from %%%d" % swept if swept >= 0 else "")]
        for row in rows:
            out.append("  ".join(cell.ljust(w) for cell, w in zip(row, widths) if w).rstrip())
        if bad >= 0:
            out.append("the first value that is not finite was born in %%%d" % bad)
        gdb.write("\n".join(out) + "\n")


class NodeCommand(gdb.Command):
    """Show one line of the tape: what made it, of what, where, its value and its gradient.
node N

N is a number or an expression: node 9, node s.id, node Q (a Var). Afterwards $node is that line, for
  p $node.grad      p *$node.rule      watch -l $node.grad.data[0]
See also: tape."""

    def __init__(self):
        super().__init__("node", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        if not argument:
            raise gdb.GdbError("which line? say node N; the command `tape` lists them")
        value = evaluate(argument.lstrip("%"))
        if kind(value.type) == "Var":
            tape, id = tape_in(value), int(plain(value)["id"])
        else:
            tape, id = find_tape(), int(value)
        first, n = lines(tape) if tape else (None, 0)
        if not 0 <= id < n:
            raise gdb.GdbError("the tape has no line %%%d: its lines are %%0 to %%%d" % (id, n - 1))
        node = (first + id).dereference()
        gdb.set_convenience_variable("node", node)
        gdb.write(show_node(node, id) + "\n")


TapeCommand()
NodeCommand()
if sys.stdin.isatty() and gdb.parameter("confirm"):  # -batch turns confirm off
    gdb.write("glassgrad: matrices print as tables; `tape` and `node N` show the tape (help tape)\n")
