"""How glassgrad's types read in a debugger. Knows no debugger: glass_gdb.py and glass_lldb.py each bring a class Value,
an object in the memory of the program.

    value["rows"]      a member                     value.kind         "Mat", "Var", ...; "" for what is not ours
    int(value)         a whole number, an address   value.target()     what a pointer or a reference leads to
    value.at(n)        element n behind a pointer   value.address      where it lies
    value.string()     the text behind a char*      value.numbers(n)   n numbers behind a pointer
    value.std_string() the text of a std::string    value.members()    (name, kind of what it holds or points at)

Everything is read from memory and nothing is called in the program, so all of it works on a core file too.
"""

EDGE = 6  # a matrix of more than 2 * EDGE rows or columns shows this many of each end
DIGITS = 4
INDENT = "    "


class Unreadable(Exception):
    """What lies there is not what its type says: not constructed yet, destroyed, or on a device."""


class NoLine(Unreadable):
    """A handle that leads to no line of a tape."""


def text(pointer):
    """A const char* of the program."""
    return pointer.string() if int(pointer) else ""


def std_vector(value):
    """(pointer to the first element, how many). Read by hand: v[i] and v.size() would be calls."""
    impl = value["_M_impl"]
    first, last, end = impl["_M_start"], impl["_M_finish"], impl["_M_end_of_storage"]
    size = first.target_size
    if not int(first) <= int(last) <= int(end) or (int(last) - int(first)) % size or (int(end) - int(first)) % size:
        raise Unreadable("not a vector")
    return first, (int(last) - int(first)) // size


# ---- matrices ---------------------------------------------------------------------------------------------------


def shape(m):
    return "%d x %d" % (int(m["rows"]), int(m["cols"]))


def number(x, digits=DIGITS):
    if x != x:
        return "nan"
    if x in (float("inf"), float("-inf")):
        return "inf" if x > 0 else "-inf"
    shown = "%.*f" % (digits, x)
    if len(shown) > 12:
        return "%.*e" % (digits, x)
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
        row = {}
        for c in {0, cols - EDGE} if cols > 2 * EDGE else {0}:
            row.update(enumerate(map(show, data.numbers(EDGE if cols > 2 * EDGE else cols, r * ld + c)), c))
        out.append(["..." if c is None else row[c] for c in some(cols)])
    return aligned(out)


def mat(m, null="no memory"):
    """(summary, rows of text) of a Mat."""
    rows, cols, ld = int(m["rows"]), int(m["cols"]), int(m["ld"])
    if int(m["data"]) == 0:
        return (null if rows == cols == 0 else shape(m) + ", no memory"), []
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
            text(first.at(id)["op"])
    except Unreadable:
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


def input_ids(node):
    n = int(node["n_in"])
    if not 0 <= n < 1 << 20:
        raise Unreadable("not a line of a tape")
    return list(node["in"].numbers(n)) if n else []


def inputs(node):
    return " ".join("%%%d" % i for i in input_ids(node))


def gradient_state(node):
    if int(node["grad"]["data"]):
        return "has grad"
    return "no grad yet" if int(node["needs_grad"]) else "wants none"


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
    notes = ["wants a gradient" if int(node["needs_grad"]) else "wants no gradient"]
    if text(node["scope"]):
        notes.append("in " + text(node["scope"]))
    notes.append("recorded at " + place(node["where"]))
    if id is not None:
        head.insert(0, "%%%d" % id)
    return "\n".join(["  ".join(head), "  " + ", ".join(notes)] + values(node))


def line_of(var):
    """The Node behind a handle, or Unreadable that says why there is none."""
    if int(var["tape"]) == 0:
        raise NoLine("empty: no line of any tape")
    first, n = lines(var["tape"].target())
    id = int(var["id"])
    if id < 0:
        raise Unreadable("not set yet")
    if id >= n or int(first.at(id)["age"]) != int(var["age"]):
        raise NoLine("%%%d is gone: the tape was rewound after this handle was made" % id)
    return first.at(id)


def show_var(var):
    node = line_of(var)
    return "\n".join(["%%%d %s, %s" % (int(var["id"]), label(node), shape(node["value"]))] + values(node))


def show_param(p):
    out = ["%s, %s, version %d" % (p["name"].std_string(), shape(p["value"]["view_"]), int(p["version"]))]
    for title, field in ("value", "value"), ("gradient", "grad"):
        out += ["  " + title] + [INDENT + row for row in mat(p[field]["view_"])[1]]
    return "\n".join(out)


def show_step(step):
    inputs_of = [("%s[%d]" % (x, i), step[x].at(i)) for i in range(int(step["n_in"])) for x in ("x", "dx")]
    out = ["line %%%d" % int(step["id"])]
    for title, m in inputs_of + [("y", step["y"]), ("dy", step["dy"])]:
        summary, rows = mat(m, "none")
        out += ["  %s: %s" % (title, summary)] + [INDENT + row for row in rows]
    return "\n".join(out)


def show_tape(tape):
    return "a tape of %d lines (the command `tape` lists them)" % lines(tape)[1]


def show_store(store):
    n = std_vector(store["places_"])[1]
    return "%d parameter%s" % (n, "" if n == 1 else "s")


def show_page(page):
    return "the page of this lesson; its tape has %d lines" % lines(page["tape"])[1]


SHOW = {"Mat": show_mat, "Matrix": lambda m: show_mat(m["view_"]), "Keep": show_keep, "Ints": show_ints, "Shape": shape, "Where": place,
        "Var": show_var, "Node": show_node, "Param": show_param, "Step": show_step, "Tape": show_tape,
        "ParamStore": show_store, "Page": show_page}


def as_text(value):
    """What a debugger prints for it."""
    try:
        return SHOW[value.kind](value)
    except NoLine as why:
        return str(why)
    except Unreadable as why:  # also "value has been optimized out"
        return "(%s)" % why
