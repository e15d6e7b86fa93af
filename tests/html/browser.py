"""Headless Chromium, driven over a pipe by its DevTools protocol. Only the standard library of Python is needed."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

SKIP = 77  # what CTest takes for "skipped"


def find_chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    return None


class Browser:
    """One page, 1280 x 800. Whatever it complains about is in `problems`."""

    def __init__(self, width=1280, height=800):
        self.folder = tempfile.mkdtemp(prefix="glassgrad_browser")
        to_child, self.out = os.pipe()
        self.source, from_child = os.pipe()

        def pipes():  # the protocol says: the browser reads from 3 and writes to 4
            a, b = os.dup(to_child), os.dup(from_child)
            os.dup2(a, 3)
            os.dup2(b, 4)

        command = [find_chromium(), "--headless=new", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run", "--disable-background-networking",
                   "--disable-component-update", "--disable-extensions", "--user-data-dir=" + self.folder, "about:blank"]
        if os.name == "posix" and os.geteuid() == 0:
            command.insert(1, "--no-sandbox")  # Chromium refuses to start as root with it
        self.process = subprocess.Popen(command, preexec_fn=pipes, close_fds=False, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_child)
        os.close(from_child)
        self.rest, self.number, self.session, self.problems = b"", 0, None, []
        pages = [t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page"]
        self.session = self.call("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def send(self, method, params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        return self.number

    def call(self, method, **params):
        number = self.send(method, params)
        while True:
            answer = self.read()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(method + ": " + json.dumps(answer["error"]))
                return answer["result"]
            self.note(answer)

    def read(self, seconds=120):
        while b"\0" not in self.rest:
            if not select.select([self.source], [], [], seconds)[0]:
                raise RuntimeError("the browser does not answer")
            data = os.read(self.source, 1 << 20)
            if not data:
                raise RuntimeError("the browser went away")
            self.rest += data
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def note(self, event):
        params = event.get("params", {})
        if event.get("method") == "Log.entryAdded":
            self.problems.append(params["entry"]["text"])
        elif event.get("method") == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.problems.append(details["text"] + " " + details.get("exception", {}).get("description", ""))
        elif event.get("method") == "Runtime.consoleAPICalled":
            self.problems.append(json.dumps(params["args"])[:300])
        elif event.get("method") == "Page.javascriptDialogOpening":
            self.problems.append("a dialog: " + params["message"])
            self.send("Page.handleJavaScriptDialog", {"accept": True})  # its answer is skipped
        elif event.get("method") == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if not url.startswith(("file:", "data:", "about:", "blob:")):
                self.problems.append("it asked for " + url)

    def js(self, expression):
        """The value of an expression in the page."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(expression + ": " + json.dumps(result["exceptionDetails"])[:600])
        return result["result"].get("value")

    def open(self, path, where="", dark=False):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url="file://" + os.path.abspath(path) + ("#" + where if where else ""))
        for _ in range(600):
            if self.js("document.readyState === 'complete' && location.protocol === 'file:'"):
                return
            time.sleep(0.05)
        raise RuntimeError(path + " does not load")

    def key(self, key, code=None):
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code or key, text=text if kind == "keyDown" else "",
                      windowsVirtualKeyCode={"Enter": 13}.get(key, 0))

    def click(self, x, y):
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="none" if kind == "mouseMoved" else "left", clickCount=1)

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def print_pdf(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.printToPDF", printBackground=False)["data"]))

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (RuntimeError, OSError):
            pass
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
