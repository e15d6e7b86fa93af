#!/usr/bin/env python3
"""Do glass.natvis and .vscode name what is really there?

    files_test.py ROOT PROGRAM     PROGRAM: a test program, to try the commands of launch.json in a real gdb

natvis: each type is a struct or class of the engine in both precisions, each word of its expressions a member of one.
.vscode: paths start at ${workspaceFolder} and lead to files, the task that F5 waits for exists and builds what is started.
Exit status: 0 right, 1 wrong."""
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml

root, program = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
wrong = []


def read(path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def check(fine, message):
    if not fine:
        wrong.append(message)


# ---- natvis ---------------------------------------------------------------------------------------------------------

HEADERS = "".join(read("engine/" + name) for name in ("mat.h", "tape.h", "params.h", "errors.h"))
MICROSOFT = {"_Mypair", "_Myval2", "_Myfirst", "_Mylast"}  # inside of its std::vector
WORDS = {"nullptr", "i", "sb"}


def body(name):
    """Between the braces of a struct or class, without comments."""
    found = re.search(r"\n(?:struct|class) %s (?:final )?\{" % name, HEADERS)
    if not found:
        return None
    text = HEADERS[found.end():]
    return re.sub(r"//.*", "", text[:text.index("\n};")])


def natvis():
    space = "{http://schemas.microsoft.com/vstudio/debugger/natvis/2010}"
    types = xml.fromstring(read("engine/debug/glass.natvis").encode()).findall(space + "Type")
    check(len(types) >= 6, "glass.natvis describes only %d types" % len(types))
    members = {}
    for t in types:
        name = t.get("Name").removeprefix("glass::f64::")
        check(t.find(space + "AlternativeType").get("Name") == "glass::f32::" + name, name + " is not there in float")
        check(body(name) is not None, "glass.natvis: the engine has no " + name)
        members[name] = body(name) or ""
    others = "".join(members.values()) + (body("Where") or "") + (body("Tape") or "")
    for t in types:
        name = t.get("Name").removeprefix("glass::f64::")
        for e in t.iter():
            expressions = [e.get("Condition") or ""]
            if e.tag == space + "DisplayString":
                expressions += re.findall(r"\{(.*?)\}", e.text)
            elif e.text and e.tag not in (space + "Direction", space + "Rank"):
                expressions.append(e.text)
            for expression in expressions:
                for before, word in re.findall(r"(->|\.)?\s*\b([A-Za-z_]\w*)", expression):
                    if word in WORDS or word in MICROSOFT:
                        continue
                    where = others if before else members[name]
                    check(re.search(r"\b%s\b" % word, where), "glass.natvis, %s: no member %s" % (name, word))


# ---- .vscode --------------------------------------------------------------------------------------------------------


def vscode():
    launch, tasks = json.loads(read(".vscode/launch.json")), json.loads(read(".vscode/tasks.json"))
    json.loads(read(".vscode/extensions.json"))
    names = {t["label"]: t for t in tasks["tasks"]}
    for t in tasks["tasks"]:
        check(t.get("dependsOn", t["label"]) in names, "tasks.json: no task " + t.get("dependsOn", ""))
    presets = {p["name"]: p for p in json.loads(read("CMakePresets.json"))["configurePresets"]}
    for c in launch["configurations"]:
        build = names.get(c["preLaunchTask"])
        check(build is not None, "launch.json waits for a task that is not there: " + c["preLaunchTask"])
        preset = build["args"][build["args"].index("--preset") + 1]
        folder = presets[preset]["binaryDir"].replace("${sourceDir}", "${workspaceFolder}")
        check(c["program"].removesuffix(".exe") == folder + "/tutorials/${fileBasenameNoExtension}", c["name"] + " starts another program")
        check(build["args"][-1] == "${fileBasenameNoExtension}", "the task builds another program than F5 starts")
    texts = read(".vscode/launch.json") + read(".vscode/tasks.json")
    for path in re.findall(r"\$\{workspaceFolder\}/(engine/[\w./]+)", texts):
        check(os.path.exists(os.path.join(root, path)), ".vscode names %s, which is not there" % path)
    check(not re.search(r'"(/|[A-Z]:)', texts), ".vscode has an absolute path")
    for lesson in json.loads(read("tutorials/lessons.json"))["lessons"]:
        check(os.path.exists(os.path.join(root, "tutorials", lesson["name"] + ".cpp")), "F5 cannot find " + lesson["name"])
    try_in_gdb(next(c for c in launch["configurations"] if c.get("MIMode") == "gdb"))


def try_in_gdb(configuration):
    """What F5 tells gdb, told to gdb."""
    if not shutil.which("gdb"):
        return
    commands = [s["text"].replace("${workspaceFolder}", root) for s in configuration["setupCommands"]]
    arguments = [a for c in commands if not c.startswith("-") for a in ("-ex", c)]
    steps = [a for c in ("break glass_step", "run", "up", "tape") for a in ("-ex", c)]
    told = subprocess.run(["gdb", "-nx", "-batch", *arguments, *steps, program], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if "Breakpoint 1, glass_step" in told.stdout:  # else gdb may not start programs here
        check(re.search(r'^\d+ lines?\n *%0 ', told.stdout, re.M), "what launch.json tells gdb does not help:\n" + told.stdout + told.stderr)


natvis()
vscode()
print("\n".join(wrong) or "glass.natvis and .vscode name what is there")
sys.exit(bool(wrong))
