#!/usr/bin/env python3
"""--step on a terminal of its own: keys, a resize, Ctrl-C, Ctrl-Z, and the terminal is given back as it was.

    step_test.py PROGRAM        exit code 77 where Python has no pty
"""
import fcntl
import os
import re
import select
import signal
import struct
import sys
import termios
import time

try:
    import pty
except ImportError:
    sys.exit(77)

failed = 0


def check(what, holds):
    global failed
    if not holds:
        failed += 1
        print("FAILED:", what)


class Session:
    """The program on a pty that this process holds open, so that its settings can be read when it is gone."""

    def __init__(self, program, rows=30, columns=90, **environment):
        self.master, self.slave = os.openpty()
        self.size(rows, columns)
        self.before = termios.tcgetattr(self.slave)
        self.pid = os.fork()
        if self.pid == 0:
            os.setsid()
            fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
            for stream in (0, 1, 2):
                os.dup2(self.slave, stream)
            os.close(self.master)
            os.execve(program, [program, "--step"], dict(os.environ, TERM="xterm", LC_ALL="C.UTF-8", **environment))
        self.seen = ""

    def size(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def wait(self, text, seconds=60):
        """Reads until `text` is on the screen; what came in before is forgotten."""
        end = time.time() + seconds
        while text not in self.seen:
            if time.time() > end:
                check("%r is on the screen, not only %r" % (text, self.seen[-300:]), False)
                return ""
            if select.select([self.master], [], [], 0.2)[0]:
                self.seen += os.read(self.master, 65536).decode("utf-8", "replace")
        screen, self.seen = self.seen, ""
        return screen

    def type(self, keys):
        os.write(self.master, keys.encode())

    def end(self, seconds=60):
        """The exit code, or minus the signal."""
        for _ in range(seconds * 10):
            while select.select([self.master], [], [], 0)[0]:
                self.seen += os.read(self.master, 65536).decode("utf-8", "replace")
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.1)
        os.kill(self.pid, signal.SIGKILL)
        return None

    def given_back(self):
        return termios.tcgetattr(self.slave) == self.before


def keys(program):
    s = Session(program)
    first = s.wait("q quit")
    check("the other page of the terminal", "\x1b[?1049h" in first)
    check("the first step", "Step 1 of 22, forward: %0 input" in first and " 1/22 " in first)
    check("the terminal gives single keys", not termios.tcgetattr(s.slave)[3] & (termios.ICANON | termios.ECHO))
    s.type(" ")
    s.wait("Step 2 of 22")
    s.type("\x1b[C")
    s.wait("Step 3 of 22")
    s.type("\x1b[D")
    s.wait("Step 2 of 22")
    s.type("b")
    s.wait("Step 1 of 22")
    s.type("b")
    s.wait("This is the first step.")
    s.type("$")
    s.wait("Step 22 of 22, back")
    s.type("s")
    s.wait("Step 12 of 22, back: %10 matmul")
    s.type("j")
    s.wait("jump to")
    s.type("dX\x7fQ\r")  # with a slip, taken back
    s.wait("back: %4 matmul \"Q\"")
    s.type("w")
    s.wait("why (")
    s.type("dW_q[1,2]\r")
    s.wait("adds up (< 1e-10)")
    s.type("n")
    s.wait("nudge (")
    s.type("W_q[1,2]\r")
    s.wait("bit for bit")
    s.type("n")
    s.wait("nudge (")
    s.type("\x1b")  # Escape: nothing happens
    time.sleep(0.3)
    s.type("h")
    s.wait("this help")
    s.type("q")
    check("q ends with 0", s.end() == 0)
    check("q gives the page back", "\x1b[?1049l" in s.seen and "checks ok" in s.seen)
    check("q gives the terminal back", s.given_back())


def resize(program):
    s = Session(program, rows=12)
    check("nothing to scroll where all fits", re.search(r"1-\d+/\d+", s.wait("q quit")) is None)
    s.type("$")
    s.wait("22/22")
    s.size(5, 60)
    os.kill(s.pid, signal.SIGWINCH)
    check("after a resize it scrolls", "1-4/" in s.wait("1-4/"))
    s.type("\x1b[B")
    s.wait("2-5/")
    s.type("\x1b[6~")
    s.wait("6-9/")
    s.size(40, 100)
    os.kill(s.pid, signal.SIGWINCH)
    screen = s.wait("q quit")
    check("a large screen shows it all", "Step 22 of 22" in screen)
    s.type("\x04")
    check("Ctrl-D ends with 0", s.end() == 0 and s.given_back())


def interrupted(program):
    for name, key, code in (("Ctrl-C", "\x03", 130), ("SIGTERM", None, 143), ("SIGHUP", None, 129)):
        s = Session(program)
        s.wait("q quit")
        s.type("f")
        s.wait("Step 2 of 22")
        s.type(key) if key else os.kill(s.pid, getattr(signal, name))
        check(name + " ends with %d" % code, s.end() == code)
        check(name + " gives the page and the terminal back", "\x1b[?1049l" in s.seen and s.given_back())


def stopped(program):
    s = Session(program)
    s.wait("q quit")
    os.kill(s.pid, signal.SIGTSTP)
    s.wait("\x1b[?1049l")
    for _ in range(100):  # until it has stopped
        if os.waitpid(s.pid, os.WUNTRACED | os.WNOHANG)[0]:
            break
        time.sleep(0.1)
    check("Ctrl-Z gives the terminal back", s.given_back())
    os.kill(s.pid, signal.SIGCONT)
    s.wait("q quit")
    check("fg takes it again", not s.given_back())
    s.type("q")
    check("and q ends with 0", s.end() == 0 and s.given_back())


program = os.path.abspath(sys.argv[1])
keys(program)
resize(program)
interrupted(program)
stopped(program)
print("step_test:", "%d failed" % failed if failed else "ok")
sys.exit(1 if failed else 0)
