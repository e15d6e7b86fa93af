"""How glassgrad's types read in gdb. glass_gdb.py loads this file; load that one.

Everything is read from memory and nothing is called in the program, so all of it works on a core file too.
"""
import re
import struct

import gdb
import gdb.printing

EDGE = 6  # a matrix of more than 2 * EDGE rows or columns shows this many of each end
DIGITS = 4
INDENT = "    "


class Unreadable(Exception):
    """What lies there is not what its type says: not constructed yet, destroyed, or on a device."""


# ---- reading ----------------------------------------------------------------------------------------------------


def kind(type_):
    """'Mat' for glass::f64::Mat and glass::f32::Mat, for references to them, and so on; '' for anything else."""
    type_ = type_.strip_typedefs()
    if type_.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        type_ = type_.target().strip_typedefs()
    found = re.fullmatch(r"glass::(?:f\d+::)?(\w+)", type_.unqualified().name or "")
    return found.group(1) if found else ""


def plain(value):
    """The object behind references and pointers."""
    while value.type.strip_typedefs().code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF, gdb.TYPE_CODE_PTR):
        if value.type.strip_typedefs().code == gdb.TYPE_CODE_PTR and int(value) == 0:
            raise Unreadable("a null pointer")
        value = value.referenced_value()
    return value


def text(pointer):
    """A const char* of the program."""
    try:
        return pointer.string(errors="replace") if int(pointer) else ""
    except gdb.MemoryError:
        raise Unreadable("a name that is not text") from None


def std_string(value):
    return value["_M_dataplus"]["_M_p"].string(errors="replace", length=int(value["_M_string_length"]))


def std_vector(value):
    """(pointer to the first element, how many). Read by hand: v[i] and v.size() would be calls."""
    impl = value["_M_impl"]
    first, last, end = impl["_M_start"], impl["_M_finish"], impl["_M_end_of_storage"]
    size = first.dereference().type.sizeof
    if not int(first) <= int(last) <= int(end) or (int(last) - int(first)) % size or (int(end) - int(first)) % size:
        raise Unreadable("not a vector")
    return first, (int(last) - int(first)) // size


def numbers(pointer, count):
    if count == 0:
        return ()
    target = pointer.type.target().strip_typedefs()
    code = {("f", 8): "d", ("f", 4): "f", ("i", 4): "i", ("i", 1): "B"}[
        ("f" if target.code == gdb.TYPE_CODE_FLT else "i", target.sizeof)]
    try:
        memory = gdb.selected_inferior().read_memory(int(pointer), count * target.sizeof)
    except gdb.MemoryError:
        raise Unreadable("at %#x, which cannot be read" % int(pointer)) from None
    return struct.unpack("=%d%s" % (count, code), memory)


# ---- matrices ---------------------------------------------------------------------------------------------------


def shape(m):
    return "%d x %d" % (int(m["rows"]), int(m["cols"]))


def number(x):
    if x != x:
        return "nan"
    if x in (float("inf"), float("-inf")):
        return "inf" if x > 0 else "-inf"
    shown = "%.*f" % (DIGITS, x)
    if len(shown) > 12:
        return "%.*e" % (DIGITS, x)
    return shown.lstrip("-") if float(shown) == 0 else shown


def some(n):
    """The rows (or columns) to show; None stands for the ones left out."""
    return list(range(n)) if n <= 2 * EDGE else [*range(EDGE), None, *range(n - EDGE, n)]


def aligned(rows):
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(cell.rjust(w) for cell, w in zip(row, widths)).rstrip() for row in rows]


def table(data, rows, cols, ld, show):
    """Row r starts at data + r*ld; only what is shown is read."""
    if rows < 0 or cols < 0 or (ld < cols and rows > 1):
        raise Unreadable("not set yet")
    if cols == 0:
        return []
    out = []
    for r in some(rows):
        if r is None:
            out.append(["..."] * len(some(cols)))
            continue
        ends = {c: data + r * ld + c for c in {0, max(0, cols - EDGE)}} if cols > 2 * EDGE else {0: data + r * ld}
        row = {}
        for c, pointer in ends.items():
            row.update(enumerate(map(show, numbers(pointer, EDGE if cols > 2 * EDGE else cols)), c))
        out.append(["..." if c is None else row[c] for c in some(cols)])
    return aligned(out)


def mat(m, null="no memory"):
    """(summary, rows of text) of a Mat."""
    rows, cols, ld = int(m["rows"]), int(m["cols"]), int(m["ld"])
    if int(m["data"]) == 0:
        return (null if rows == cols == 0 else shape(m) + ", " + null), []
    return shape(m) + (", view with ld %d" % ld if ld > cols else ""), table(m["data"], rows, cols, ld, number)


def show_mat(m):
    summary, rows = mat(m, "empty")
    return "\n".join([summary] + [INDENT + row for row in rows])


def show_keep(k):
    rows, cols = int(k["rows"]), int(k["cols"])
    if int(k["data"]) == 0:
        return "empty"
    marks = table(k["data"], rows, cols, cols, lambda x: "1" if x else ".")
    return "\n".join([shape(k)] + [INDENT + row for row in marks])


def show_ints(v):
    n = int(v["n"])
    if int(v["data"]) == 0:
        return "empty"
    return "%d: " % n + (table(v["data"], 1, n, n, str) or [""])[0]


# ---- the tape ---------------------------------------------------------------------------------------------------


def lines(tape):
    """(pointer to the first Node, how many), or Unreadable if this is no living tape."""
    try:
        first, n = std_vector(tape["nodes"])
        known = max(n, std_vector(tape["gone_"])[1])
        ids = int(tape["swept_from_"]), int(tape["first_nonfinite"])
        alive = int(tape["age"]) > 0 and all(-1 <= id < max(known, 1) for id in ids)
        for id in {0, n - 1} if n else ():
            text((first + id).dereference()["op"])
    except gdb.error:
        alive = False
    if not alive:
        raise Unreadable("no living tape")
    return first, n


def place(where):
    """ "layers/linear.cpp:13": the path from the project's root, as the error messages say it. """
    path = short = text(where["file"])
    for room in "/engine/", "/layers/", "/tutorials/", "/tests/":
        if room in path:
            short = path[path.index(room) + 1:]
    return "%s:%d" % (short, int(where["line"]))


def label(node):
    name = text(node["name"])
    return text(node["op"]) + (' "%s"' % name if name else "")


def inputs(node):
    return " ".join("%%%d" % i for i in numbers(node["in"], int(node["n_in"]))) if int(node["n_in"]) else ""


def gradient_state(node):
    if int(node["grad"]["data"]):
        return "has grad"
    return "no grad yet" if node["needs_grad"] else "wants none"


def values(node):
    out = []
    for title, field, null in ("value", "value", "no value yet"), ("gradient", "grad", gradient_state(node)):
        try:
            summary, rows = mat(node[field], null)
        except Unreadable as why:
            summary, rows = str(why), []
        out += ["  " + title if rows else "  %s: %s" % (title, summary)] + [INDENT + row for row in rows]
    return out


def show_node(node, id=None):
    head = [label(node), shape(node["value"])]
    if int(node["n_in"]):
        head.append("<- " + inputs(node))
    if int(node["view_of"]) >= 0:
        head.append("at [%d,%d]" % (int(node["view_r"]), int(node["view_c"])))
    notes = ["wants a gradient" if node["needs_grad"] else "wants no gradient"]
    if text(node["scope"]):
        notes.append("in " + text(node["scope"]))
    notes.append("recorded at " + place(node["where"]))
    if id is not None:
        head.insert(0, "%%%d" % id)
    return "\n".join(["  ".join(head), "  " + ", ".join(notes)] + values(node))


def show_var(var):
    if int(var["tape"]) == 0:
        return "empty: no line of any tape"
    first, n = lines(var["tape"].dereference())
    id = int(var["id"])
    if id < 0:
        raise Unreadable("not set yet")
    if id >= n or int((first + id)["age"]) != int(var["age"]):
        return "%%%d is gone: the tape was rewound after this handle was made" % id
    node = (first + id).dereference()
    return "\n".join(["%%%d %s, %s" % (id, label(node), shape(node["value"]))] + values(node))


def show_param(p):
    out = ["%s, %s, version %d" % (std_string(p["name"]), shape(p["value"]["view_"]), int(p["version"]))]
    for title, field in ("value", "value"), ("gradient", "grad"):
        out += ["  " + title] + [INDENT + row for row in mat(p[field]["view_"])[1]]
    return "\n".join(out)


def show_step(step):
    inputs_of = [("%s[%d]" % (x, i), step[x][i]) for i in range(int(step["n_in"])) for x in ("x", "dx")]
    out = ["line %%%d" % int(step["id"])]
    for title, m in inputs_of + [("y", step["y"]), ("dy", step["dy"])]:
        summary, rows = mat(m, "none")
        out += ["  %s: %s" % (title, summary)] + [INDENT + row for row in rows]
    return "\n".join(out)


def show_tape(tape):
    return "a tape of %d lines (the command `tape` lists them)" % lines(tape)[1]


# ---- pretty printers --------------------------------------------------------------------------------------------


class Text:
    def __init__(self, show, value):
        self.show, self.value = show, value

    def to_string(self):
        try:
            shown = self.show(self.value)
        except (Unreadable, gdb.error) as why:  # gdb.error: "value has been optimized out"
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


SHOW = {"Mat": show_mat, "Matrix": lambda m: show_mat(m["view_"]), "Keep": show_keep, "Ints": show_ints,
        "Var": show_var, "Node": show_node, "Param": show_param, "Step": show_step, "Tape": show_tape}


def glassgrad(value):
    name = kind(value.type)
    if value.type.strip_typedefs().code != gdb.TYPE_CODE_STRUCT or not name:
        return None
    if name in SHOW:
        return Text(SHOW[name], value)
    bases = [f for f in value.type.strip_typedefs().fields() if f.is_base_class]
    return Rule(value) if any(kind(b.type) == "Op" for b in bases) else None


gdb.printing.register_pretty_printer(None, glassgrad, replace=True)
