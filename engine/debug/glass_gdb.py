"""glassgrad in gdb: matrices print as tables, and a few commands ask the tape.

    (gdb) source engine/debug/glass_gdb.py      or start gdb with -x engine/debug/glass_gdb.py
    (gdb) p A                                   "3 x 3" and its rows; Var, Node, Param, Keep, ... alike
    (gdb) tape                                  every line; also: tape EXPRESSION
    (gdb) node 9                                one line in full; afterwards $node is that line
    (gdb) help why                              and parents, checkgrad, heat, diff, trap
"""
import functools
import locale
import os
import re
import struct
import sys

import gdb
import gdb.printing

sys.dont_write_bytecode = True  # no __pycache__ among the sources
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import glass_cuda  # noqa: F401 the command cuda
from glass_ask import COMMANDS
from glass_find import NotRunning, find_tape
from glass_show import SHOW, Unreadable, as_text

REFERENCES = gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF


def kind(type_):
    """'Mat' for glass::f64::Mat and glass::f32::Mat, for references to them, and so on; '' for anything else."""
    type_ = type_.strip_typedefs()
    if type_.code in REFERENCES:
        type_ = type_.target().strip_typedefs()
    found = re.fullmatch(r"glass::(?:f\d+::)?(\w+)", type_.unqualified().name or "")
    return found.group(1) if found else ""


def behind(type_):
    """What a pointer or a reference leads to."""
    type_ = type_.strip_typedefs()
    return type_.target() if type_.code in (*REFERENCES, gdb.TYPE_CODE_PTR) else type_


def guarded(read):
    @functools.wraps(read)
    def checked(*arguments, **options):
        try:
            return read(*arguments, **options)
        except gdb.error as why:  # also gdb.MemoryError
            raise Unreadable(str(why)) from None
    return checked


# ---- the program's memory, and what runs in it, as glass_show.py and glass_find.py want it -------------------------


class Value:
    @guarded
    def __init__(self, value):
        self.gdb = value.referenced_value() if value.type.strip_typedefs().code in REFERENCES else value
        self.type = self.gdb.type.strip_typedefs()
        self.kind = kind(self.type)
        self.is_pointer = self.type.code == gdb.TYPE_CODE_PTR
        self.is_number = self.type.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_ENUM)

    @guarded
    def __getitem__(self, member):
        return Value(self.gdb[member])

    @guarded
    def __int__(self):
        return int(self.gdb)

    @guarded
    def target(self):
        return Value(self.gdb.dereference())

    @guarded
    def at(self, n):
        return Value((self.gdb + n).dereference())

    @property
    def address(self):
        return int(self.gdb.address)

    @property
    def target_size(self):
        return self.type.target().sizeof

    @guarded
    def string(self):
        return self.gdb.string(errors="replace")

    @guarded
    def std_string(self):
        return self.gdb["_M_dataplus"]["_M_p"].string(errors="replace", length=int(self.gdb["_M_string_length"]))

    def members(self):
        own = self.type.fields() if self.type.code == gdb.TYPE_CODE_STRUCT else ()
        return [(f.name, kind(behind(f.type))) for f in own if f.name]

    @guarded
    def numbers(self, count, first=0):
        if count == 0:
            return ()
        target = self.type.target().strip_typedefs()
        code = {("f", 8): "d", ("f", 4): "f", ("i", 4): "i", ("i", 1): "B"}[
            ("f" if target.code == gdb.TYPE_CODE_FLT else "i", target.sizeof)]
        start = int(self.gdb) + first * target.sizeof
        try:
            memory = gdb.selected_inferior().read_memory(start, count * target.sizeof)
        except (gdb.MemoryError, OverflowError):
            raise Unreadable("at %#x, which cannot be read" % start) from None
        return struct.unpack("=%d%s" % (count, code), memory)


class Frame:
    def __init__(self, frame):
        self.frame = frame

    def variables(self):
        """Its arguments and locals."""
        try:
            block = self.frame.block()
        except RuntimeError:
            return []  # no debug information
        found = []
        while block:
            found += [s for s in block if s.is_variable or s.is_argument]
            block = None if block.function else block.superblock
        return [(s.name, kind(behind(s.type)), s.is_argument, functools.partial(self.read, s)) for s in found]

    def has(self, name):
        return any(v[0] == name for v in self.variables())

    @guarded
    def read(self, symbol):
        return Value(symbol.value(self.frame))


class Gdb:
    unicode = "utf" in (locale.getpreferredencoding(False) or "").lower()

    @property
    def color(self):
        return sys.__stdout__ is not None and os.isatty(1) and "NO_COLOR" not in os.environ and gdb.parameter("style enabled")

    @guarded
    def evaluate(self, expression):
        return Value(gdb.parse_and_eval(expression))

    @guarded
    def frames(self, newest=False):
        frame = gdb.newest_frame() if newest else gdb.selected_frame()
        found = []
        while frame:
            found.append(Frame(frame))
            frame = frame.older()
        return found

    def remember(self, node):
        gdb.set_convenience_variable("node", node.gdb)

    def call(self, tape, function, *numbers):
        """Other breakpoints are put aside meanwhile: the program would stop inside the call."""
        room = tape.type.unqualified().name.rpartition("::")[0]
        waiting = [b for b in gdb.breakpoints() if b.enabled]
        for b in waiting:
            b.enabled = False
        try:
            if gdb.selected_inferior().connection.type == "core":
                raise NotRunning(NO_PROCESS)
            if gdb.newest_frame().name() == "glass_step":
                return self.ask(tape, "%s::%s" % (room, function), numbers)
            call = "%s::%s((void*)%d%s)" % (room, function, tape.address, "".join(", %d" % n for n in numbers))
            return gdb.parse_and_eval(call).string(errors="replace")
        except gdb.error as why:
            message = str(why)
            if "without a process" in message:
                raise NotRunning(NO_PROCESS) from None
            raise Unreadable(NO_CALLS if "extended state" in message else message) from None
        finally:
            for b in waiting:
                b.enabled = True

    def trap(self, on):
        """By the program itself: after a call of a function gdb puts the processor's settings back."""
        if gdb.newest_frame().name() != "glass_step":
            raise Unreadable("say it where the program stands in glass_step: break glass_step, continue, trap")
        return self.call(find_tape(self), "debug_trap", int(on), 0, 0, 0)

    def ask(self, tape, function, numbers):
        """Not by a call: the question is left in memory, and glass_step answers it before it returns (engine/hooks.h)."""
        level = gdb.selected_frame().level()
        asked = dict(tape="(void*)%d" % tape.address, ask=function, **{"n[%d]" % i: n for i, n in enumerate(numbers)})
        for member, value in asked.items():
            gdb.execute("set var glass_question.%s = %s" % (member, value), to_string=True)
        gdb.Breakpoint("glass_answer", internal=True, temporary=True).silent = True
        gdb.execute("continue", to_string=True)
        answer = gdb.newest_frame().read_var("text").string(errors="replace")
        gdb.FinishBreakpoint(gdb.newest_frame(), internal=True).silent = True
        gdb.execute("continue", to_string=True)
        frame = gdb.newest_frame()
        for _ in range(level):
            frame = frame.older()
        frame.select()
        return answer


NO_PROCESS = "no process runs here, so nothing can be computed"
NO_CALLS = ("gdb before 14 cannot call a function on this processor (it cannot write its AMX registers). At a teaching step it "
            "need not: go on to the next glass_step and ask there")


# ---- commands ---------------------------------------------------------------------------------------------------


class Command(gdb.Command):
    def __init__(self, run):
        self.__doc__ = run.__doc__
        self.run = run
        super().__init__(run.__name__, gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        try:
            gdb.write(self.run(Gdb(), argument) + "\n")
        except (Unreadable, gdb.error) as why:
            raise gdb.GdbError(str(why)) from None


# ---- pretty printers --------------------------------------------------------------------------------------------


class Text:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        try:
            shown = as_text(Value(self.value))
        except (Unreadable, gdb.error) as why:
            return "(%s)" % why
        # In a line of `backtrace` only the summary. (gdb before 13 cannot tell: it shows everything there.)
        in_backtrace = hasattr(gdb, "print_options") and gdb.print_options()["summary"]
        return shown.split("\n")[0] if in_backtrace else shown


class Rule:
    """An op: its own fields, without the table of virtual functions."""

    def __init__(self, value):
        self.value = value
        self.own = [f.name for f in value.type.strip_typedefs().fields() if not f.is_base_class]

    def to_string(self):
        return kind(self.value.type) + ("" if self.own else ", keeps nothing")

    def children(self):
        return ((name, self.value[name]) for name in self.own)


def glassgrad(value):
    name = kind(value.type)
    if value.type.strip_typedefs().code != gdb.TYPE_CODE_STRUCT or not name:
        return None
    if name in SHOW:
        return Text(value)
    bases = [f for f in value.type.strip_typedefs().fields() if f.is_base_class]
    return Rule(value) if any(kind(b.type) == "Op" for b in bases) else None


gdb.printing.register_pretty_printer(None, glassgrad, replace=True)
for run in COMMANDS.values():
    Command(run)
if sys.stdin.isatty() and gdb.parameter("confirm"):  # -batch turns confirm off
    gdb.write("glassgrad: matrices print as tables; `tape` and `node N` show the tape (help tape)\n")
