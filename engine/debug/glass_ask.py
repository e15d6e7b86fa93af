"""The commands: each takes the debugger (see glass_find.py) and what was typed behind it, and returns text. A command's
docstring is its help in gdb and lldb."""
import re
import shlex

from glass_find import NotRunning, entries, find_line, find_mat, find_tape, running
from glass_heat import shades
from glass_show import (INDENT, Unreadable, aligned, gradient_state, input_ids, inputs, label, lines, mat, number, place, shape,
                        show_node, text)


def tape(debugger, argument):
    """List every line of the tape.
tape [EXPRESSION]

  =>  %9  softmax  "A"  3 x 3  <- %8  has grad  layers/attention/attention.cpp:16

means: line 9 was made by softmax from line 8, is called "A", holds 3 x 3 numbers, and backward() has given
it a gradient; it was recorded at line 16 of that file. "=>" marks the line whose op is at work right now.

EXPRESSION is a Tape, a Var, or anything that has a Tape as a member. Without it the tape is looked for in
the selected frame, then in its callers. See also: node, parents."""
    t = find_tape(debugger, argument)
    first, n = lines(t)
    now, swept, bad = running(debugger, t), int(t["swept_from_"]), int(t["first_nonfinite"])
    rows = []
    for id in range(n):
        node = first.at(id)
        name, finite = text(node["name"]), ("", "-inf meant", "NOT FINITE")[int(node["finite"]) % 3]
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
    return "\n".join(out)


def node(debugger, argument):
    """Show one line of the tape: what made it, of what, where, its value and its gradient.
node [N]

N is a number, a name, or an expression: node 9, node A, node s.id, node Q (a Var), node other:A (of the tape
`other`); without it, the line whose op is at work. $node is that line afterwards:
  gdb    p $node.grad      p *$node.rule      watch -l $node.grad.data[0]
  lldb   p $node->grad     watchpoint set expression -- $node->grad.data
See also: tape, parents, why, checkgrad."""
    t, id = find_line(debugger, argument) if argument else (find_tape(debugger), -1)
    id = id if argument else running(debugger, t)
    if id < 0:
        raise Unreadable("which line? say node N; the command `tape` lists them")
    line = lines(t)[0].at(id)
    debugger.remember(line)
    return show_node(line, id)


def parents(debugger, argument):
    """Show what a line of the tape was made of, and what those were made of, down to the leaves; and who uses it.
parents [N]

N as for `node`; without it the line whose op is at work, else the last line. A line that is needed twice is
written out once. See also: tape, node."""
    if argument:
        t, id = find_line(debugger, argument)
    else:
        t = find_tape(debugger)
        id = running(debugger, t)
        id = id if id >= 0 else lines(t)[1] - 1
        if id < 0:
            raise Unreadable("the tape is empty")
    first, n = lines(t)
    out, seen = [], set()
    waiting = [(id, 0)]  # a list, not a recursion: a long chain of lines is no trouble
    while waiting:
        i, depth = waiting.pop()
        line = first.at(i)
        row = "%s%%%d %s  %s" % ("  " * depth, i, label(line), shape(line["value"]))
        if i in seen and int(line["n_in"]):
            out.append(row + "  (above)")
            continue
        seen.add(i)
        out.append(row)
        if len(out) == 200:
            out.append("... and more")
            break
        waiting += [(j, depth + 1) for j in reversed(input_ids(line))]
    users = users_of(first, n, id)
    out.append("used by " + ", ".join("%%%d %s" % (u, label(first.at(u))) for u in users) if users else "used by no line")
    return "\n".join(out)


def users_of(first, n, id):
    return [u for u in range(id + 1, n) if id in input_ids(first.at(u))]


def why(debugger, argument):
    """Explain one number: where its value comes from, or, with a d before the name, what adds up to its gradient.
why X[i,j]

X is a line's name or number: why A[0,2], why dQ[1,0], why %7[0,0], why d%7[0,0]. The arithmetic is done by the
program itself, so it must be alive; on a core file you get the lines that take part and their numbers.
See also: parents, checkgrad."""
    found = re.fullmatch(r"(.+)\[\s*(\d+)\s*,\s*(\d+)\s*\]", argument.strip())
    if not found:
        raise Unreadable("which number? say why X[i,j], for example why A[0,2] or why dQ[1,0]")
    what, r, c = found.group(1).strip(), int(found.group(2)), int(found.group(3))
    try:
        (t, id), of_gradient = find_line(debugger, what), False
    except Unreadable:
        if not what.startswith("d"):
            raise
        (t, id), of_gradient = find_line(debugger, what[1:]), True
    first, n = lines(t)
    line = first.at(id)
    m = line["grad" if of_gradient else "value"]
    rows, cols = int(line["value"]["rows"]), int(line["value"]["cols"])
    if r >= rows or c >= cols:
        raise Unreadable("%s is %d x %d: there is no [%d,%d]" % (label(line), rows, cols, r, c))
    if int(m["data"]) == 0:
        raise Unreadable("%%%d %s: %s" % (id, label(line), gradient_state(line) if of_gradient else "no value yet"))
    try:
        return debugger.call(t, "debug_why", id, r, c, 1 if of_gradient else 0).rstrip()
    except NotRunning as reason:
        missing = ": the local derivatives are missing" if of_gradient else ""
        return "%s\n(%s%s)" % (why_from_memory(first, n, id, r, c, of_gradient), reason, missing)


def why_from_memory(first, n, id, r, c, of_gradient):
    line = first.at(id)
    m = line["grad" if of_gradient else "value"]
    x = m["data"].numbers(1, r * int(m["ld"]) + c)[0]
    d = "d" if of_gradient else ""
    out = ["%s%s[%d,%d] = %.6g, of line %%%d %s" % (d, text(line["name"]) or "%%%d" % id, r, c, x, id, label(line))]
    others = [u for u in users_of(first, n, id) if int(first.at(u)["grad"]["data"])] if of_gradient else input_ids(line)
    if not others:
        out.append("  it is the root: its gradient is the seed" if of_gradient else "  a leaf: it was given, not computed")
    for o in others:
        other = first.at(o)
        out.append("  %s %%%d %s, whose %s is" % ("used by" if of_gradient else "made of", o, label(other),
                                                 "gradient" if of_gradient else "value"))
        out += [INDENT + row for row in mat(other["grad" if of_gradient else "value"])[1]]
    return "\n".join(out)


def checkgrad(debugger, argument):
    """Compare the gradient of a line with central differences: nudge its numbers, replay the tape, see how the result moves.
checkgrad N

N as for `node`. Every number is put back bit for bit. Needs a running program and a backward() that is past N.
Where one line agrees and an earlier one does not, the rule between them is wrong. See also: why."""
    if not argument:
        raise Unreadable("which line? say checkgrad N; the command `tape` lists them")
    t, id = find_line(debugger, argument)
    root, now = int(t["swept_from_"]), running(debugger, t)
    line = lines(t)[0].at(id)
    if root < 0:
        raise Unreadable("no backward() has run on this tape yet: there is no gradient to check")
    if not int(line["grad"]["data"]):
        raise Unreadable("%%%d %s: %s" % (id, label(line), gradient_state(line)))
    if id < now:
        raise Unreadable("backward() is at work in line %%%d: the gradient of %%%d is not complete yet" % (now, id))
    return debugger.call(t, "debug_checkgrad", root, id, now, 0).rstrip()


def heat(debugger, argument):
    """Draw a matrix as shades: the darker, the larger; a minus marks what is below 0.
heat [--ascii] [--plain] M

M is a variable, or a line of the tape, or d and a line for its gradient: heat A, heat dA, heat other:A. More than
24 rows or columns are joined into blocks, each drawn as its largest entry. --plain: without colour (which is used
on a terminal only, and not if NO_COLOR is set). See also: diff."""
    words = argument.split()
    options = [w for w in words if w.startswith("--")]
    for option in options:
        if option not in ("--ascii", "--plain"):
            raise Unreadable("no option %s: heat [--ascii] [--plain] M" % option)
    what = " ".join(w for w in words if w not in options)
    if not what:
        raise Unreadable("which matrix? say heat M")
    title, m = find_mat(debugger, what)
    numbers = entries(m)
    return "%s  %s" % (title, shape(m)) + shades(numbers, debugger.color and "--plain" not in options,
                                                "--ascii" in options or not debugger.unicode)


def diff(debugger, argument):
    """Compare two matrices: the largest difference, and where.
diff A B

A and B as for `heat`: variables or lines of the tape, TAPE:NAME for a line of another tape, d before a name for its
gradient. With a name of several words: diff "head 0 E" "head 1 E". See also: heat."""
    try:
        words = shlex.split(argument) if "," not in argument else [w.strip().strip('"') for w in argument.split(",")]
    except ValueError as reason:
        raise Unreadable(str(reason)) from None
    if len(words) != 2:
        raise Unreadable("which two? say diff A B")
    (name_a, a), (name_b, b) = find_mat(debugger, words[0]), find_mat(debugger, words[1])
    if shape(a) != shape(b):
        raise Unreadable("%s is %s, %s is %s: other shapes" % (name_a, shape(a), name_b, shape(b)))
    worst, where, differ, bad = -1.0, None, 0, 0
    rows_a, rows_b = entries(a), entries(b)
    for r, (row_a, row_b) in enumerate(zip(rows_a, rows_b)):
        for c, (x, y) in enumerate(zip(row_a, row_b)):
            if x == y or (x != x and y != y):
                continue
            differ += 1
            gap = abs(x - y)
            if gap != gap or gap == float("inf"):  # a NaN or an infinity on one side only
                bad += 1
                gap = float("inf")
            if gap > worst:
                worst, where = gap, (r, c)
    total = int(a["rows"]) * int(a["cols"])
    if where is None:
        return "%s and %s  %s: equal in all %d entries" % (name_a, name_b, shape(a), total)
    r, c = where
    x, y = rows_a[r][c], rows_b[r][c]
    digits = "%.17g" if a["data"].target_size == 8 and b["data"].target_size == 8 else "%.9g"
    out = ["%s and %s  %s: %d of %d entries differ" % (name_a, name_b, shape(a), differ, total),
           "  most at [%d,%d]: %s and %s" % (r, c, digits % x, digits % y) + ("" if bad else ", %.1e apart" % worst)]
    if bad:
        out.append("  %d of them: one side is not finite" % bad)
    return "\n".join(out)


def trap(debugger, argument):
    """Stop at the very instruction that makes a NaN out of other numbers.
trap [off]

The processor does it: from here on the program stops with SIGFPE there, at full speed. Say it at a teaching step
(glass_step), then continue. After the stop, `run` starts again. See also: break glass_nonfinite, which names the line of the tape."""
    if argument.strip() not in ("", "on", "off"):
        raise Unreadable("say trap, or trap off")
    return debugger.trap(argument.strip() != "off").rstrip()


COMMANDS = {f.__name__: f for f in (tape, node, parents, why, checkgrad, heat, diff, trap)}
