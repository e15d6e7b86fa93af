"""glassgrad in lldb: matrices print as tables, and a few commands ask the tape.

    (lldb) command script import engine/debug/glass_lldb.py      or start lldb with -s engine/debug/lesson.lldb
    (lldb) p A                                                   "3 x 3" and its rows; Var, Node, Param, Keep, ... alike
    (lldb) tape                                                  every line; also: tape EXPRESSION
    (lldb) help why                                              and node, parents, checkgrad, heat, diff, trap, lesson
"""
import functools
import locale
import os
import re
import struct
import sys

import lldb

sys.dont_write_bytecode = True  # no __pycache__ among the sources
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from glass_ask import COMMANDS
from glass_find import NotRunning
from glass_show import SHOW, Unreadable, as_text

MOST_TEXT = 1 << 16  # bytes of a name


def kind(type_):
    """'Mat' for glass::f64::Mat and glass::f32::Mat, for references to them, and so on; '' for anything else."""
    if type_.IsReferenceType():
        type_ = type_.GetDereferencedType()
    name = type_.GetCanonicalType().GetUnqualifiedType().GetName() or ""
    found = re.fullmatch(r"(?:const )?glass::(?:f\d+::)?(\w+)", name)
    return found.group(1) if found else ""


def behind(type_):
    """What a pointer or a reference leads to."""
    if type_.IsPointerType():
        return type_.GetPointeeType()
    return type_.GetDereferencedType() if type_.IsReferenceType() else type_


# ---- the program's memory, and what runs in it, as glass_show.py and glass_find.py want it -------------------------


def whole_type(target, type_):
    """A type of ours as the program has it: that of an expression's result may lack members."""
    found = target.FindFirstType(type_.GetUnqualifiedType().GetName()) if kind(type_) else type_
    return found if found.IsValid() else type_


class Value:
    def __init__(self, value):
        if value.GetType().IsReferenceType():
            value = value.Dereference()
        self.lldb = value.GetNonSyntheticValue()
        error = self.lldb.GetError()
        if not self.lldb.IsValid() or (error.Fail() and not self.lldb.GetType().IsValid()):
            raise Unreadable(error.GetCString() or "not there")
        self.type = self.lldb.GetType().GetCanonicalType()
        self.kind = kind(self.type)
        whole = whole_type(self.lldb.GetTarget(), self.type)
        if whole.GetNumberOfFields() > self.type.GetNumberOfFields() and self.address != lldb.LLDB_INVALID_ADDRESS:
            where = lldb.SBAddress(self.address, self.lldb.GetTarget())
            self.lldb, self.type = self.lldb.GetTarget().CreateValueFromAddress("there", where, whole), whole
        self.is_pointer = self.type.IsPointerType()
        self.is_number = not self.is_pointer and self.type.GetBasicType() in WHOLE
        self.target_size = self.type.GetPointeeType().GetByteSize() if self.is_pointer else 0

    def __getitem__(self, member):
        found = self.lldb.GetChildMemberWithName(member)
        if not found.IsValid():
            raise Unreadable(self.lldb.GetError().GetCString() or "there is no member named %s" % member)
        return Value(found)

    def __int__(self):
        error = lldb.SBError()
        unsigned = self.is_pointer or self.type.GetBasicType() in (lldb.eBasicTypeBool, lldb.eBasicTypeUnsignedInt)
        x = self.lldb.GetValueAsUnsigned(error) if unsigned else self.lldb.GetValueAsSigned(error)
        if error.Fail():
            raise Unreadable(self.lldb.GetError().GetCString() or error.GetCString())
        return x

    def target(self):
        return self.at(0)

    def at(self, n):
        target, type_ = self.lldb.GetTarget(), self.type.GetPointeeType()
        return Value(target.CreateValueFromAddress("there", lldb.SBAddress(int(self) + n * self.target_size, target), type_))

    @property
    def address(self):
        return self.lldb.GetLoadAddress()

    def read(self, start, size):
        error = lldb.SBError()
        memory = self.lldb.GetTarget().ReadMemory(lldb.SBAddress(start, self.lldb.GetTarget()), size, error)
        if error.Fail() or memory is None or len(memory) != size:
            raise Unreadable("at %#x, which cannot be read" % start)
        return bytes(memory)

    def string(self):
        start, found = int(self), b""
        while b"\0" not in found and len(found) < MOST_TEXT:
            step = 64 - (start + len(found)) % 64  # never across the end of a page that is readable
            found += self.read(start + len(found), step)
        return found.split(b"\0")[0].decode(errors="replace")

    def std_string(self):
        return self["_M_dataplus"]["_M_p"].string()

    def members(self):
        own = [self.type.GetFieldAtIndex(i) for i in range(self.type.GetNumberOfFields())]
        return [(f.GetName(), kind(behind(f.GetType()))) for f in own if f.GetName()]

    def numbers(self, count, first=0):
        if count == 0:
            return ()
        code = CODES.get(self.type.GetPointeeType().GetCanonicalType().GetUnqualifiedType().GetBasicType())
        if code is None:
            raise Unreadable("not a pointer to numbers")
        return struct.unpack("=%d%s" % (count, code), self.read(int(self) + first * self.target_size, count * self.target_size))


CODES = {lldb.eBasicTypeDouble: "d", lldb.eBasicTypeFloat: "f", lldb.eBasicTypeInt: "i", lldb.eBasicTypeUnsignedChar: "B"}
WHOLE = (lldb.eBasicTypeInt, lldb.eBasicTypeUnsignedInt, lldb.eBasicTypeLong, lldb.eBasicTypeUnsignedLong,
         lldb.eBasicTypeLongLong, lldb.eBasicTypeUnsignedLongLong, lldb.eBasicTypeShort, lldb.eBasicTypeUnsignedShort)


class Frame:
    def __init__(self, frame):
        self.frame = frame

    def variables(self):
        """Its arguments and locals."""
        found = self.frame.GetVariables(True, True, False, True)
        return [(v.GetName(), kind(behind(v.GetType())), v.GetValueType() == lldb.eValueTypeVariableArgument,
                 functools.partial(Value, v)) for v in found]

    def has(self, name):
        return self.frame.GetValueForVariablePath(name).IsValid()


class Lldb:
    unicode = "utf" in (locale.getpreferredencoding(False) or "").lower()

    def __init__(self, context):
        self.context = context

    @property
    def color(self):
        return os.isatty(1) and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"

    @property
    def thread(self):
        thread = self.context.GetThread()
        if not thread.IsValid():
            raise Unreadable("no program is running: type run")
        return thread

    def compute(self, expression, scope=None):
        options = lldb.SBExpressionOptions()
        options.SetIgnoreBreakpoints(True)
        options.SetUnwindOnError(True)
        options.SetSuppressPersistentResult(True)  # no $0, $1, ... of ours
        # without a scope in the outermost frame: lldb warns if a frame of an optimised kernel has lost its `this`
        scope = scope or self.thread.GetFrameAtIndex(self.thread.GetNumFrames() - 1)
        value = scope.EvaluateExpression(expression, options)
        if value.GetError().Fail():  # lldb also tells every warning of its compiler; the last error is the one that says why
            told = [line for line in (value.GetError().GetCString() or "").splitlines() if line.startswith("error: ")]
            raise Unreadable(re.sub("^error: (<user expression.*?>:[0-9:]+ )?", "", told[-1]) if told else "that went wrong")
        return value

    def evaluate(self, expression):
        variable = self.thread.GetSelectedFrame().GetValueForVariablePath(expression)
        if variable.IsValid() and variable.GetError().Success():  # memory only
            return Value(variable)
        return Value(self.compute(expression, self.thread.GetSelectedFrame()))

    def frames(self, newest=False):
        first = 0 if newest else self.thread.GetSelectedFrame().GetFrameID()
        return [Frame(self.thread.GetFrameAtIndex(i)) for i in range(first, self.thread.GetNumFrames())]

    def remember(self, node):
        """$node, a pointer."""
        here = "(%s*)%d" % (node.type.GetUnqualifiedType().GetName(), node.address)
        for expression in ("$node = %s" % here, "auto $node = %s" % here):  # the first time it must be made
            try:
                return self.compute(expression)
            except Unreadable:
                pass  # also on a core file

    def call(self, tape, function, *numbers):
        room = re.sub(r"^const ", "", tape.type.GetName()).rpartition("::")[0]
        if self.context.GetProcess().GetPluginName().endswith("core"):
            raise NotRunning("no process runs here, so nothing can be computed")
        result = self.compute("%s::%s((void*)%d%s)" % (room, function, tape.address, "".join(", %d" % n for n in numbers)))
        return Value(result).string()

    def trap(self, on):
        """In the register: after a call of a function lldb puts the processor's settings back."""
        mxcsr = self.thread.GetFrameAtIndex(0).FindRegister("mxcsr")
        if not mxcsr.IsValid():
            raise Unreadable("this processor has no such trap: use `breakpoint set -n glass_nonfinite`")
        bits = mxcsr.GetValueAsUnsigned() & ~0x81  # 0x80: an invalid operation is let pass; 0x01: there was one
        mxcsr.SetValueFromCString("0x%x" % (bits if on else bits | 0x80))
        return "the instruction that makes a NaN stops the program now (SIGFPE)" if on else "a NaN stops nothing now"


# ---- commands and summaries -------------------------------------------------------------------------------------


class Command:
    def __init__(self, debugger, dictionary):
        pass

    def __call__(self, debugger, argument, context, result):
        try:
            result.AppendMessage(self.run(Lldb(context), argument))
        except Unreadable as why:
            result.SetError(str(why))

    def get_short_help(self):
        return self.run.__doc__.split("\n")[0]

    def get_long_help(self):
        return self.run.__doc__


def lesson(debugger, argument):
    """Select the frame of the lesson's own code (main), where X, Q, A, ... are."""
    for i in range(debugger.thread.GetNumFrames()):
        frame = debugger.thread.GetFrameAtIndex(i)
        if frame.GetFunctionName() in ("main", "main()"):
            debugger.thread.SetSelectedFrame(i)
            entry = frame.GetLineEntry()
            return "frame #%d: main at %s:%d" % (i, entry.GetFileSpec().GetFilename(), entry.GetLine())
    raise Unreadable("main is not among the callers")


def summary(value, dictionary):
    return as_text(Value(value))


def rule(value, dictionary):
    return kind(value.GetType())


def __lldb_init_module(debugger, dictionary):
    here = __name__
    for name, run in {**COMMANDS, "lesson": lesson}.items():
        globals()["Run_" + name] = type("Run_" + name, (Command,), {"run": staticmethod(run)})
        debugger.HandleCommand("command script add -c %s.Run_%s %s" % (here, name, name))
    ours = "^(const )?glass::(f[0-9]+::)?(%s)$" % "|".join(SHOW)
    debugger.HandleCommand('type summary add --skip-pointers -F %s.summary -x "%s"' % (here, ours))
