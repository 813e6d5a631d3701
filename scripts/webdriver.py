"""Drives a headless Chromium through chromedriver (https://www.w3.org/TR/webdriver2/)."""
import base64, json, re, subprocess, urllib.error, urllib.request


class Browser:
    """Browser window of `size`; downloads go to the folder `downloads`.

    `arguments` are passed to Chromium. With `watches_network`, `answers` lists servers' responses.
    """

    def __init__(self, size=(1200, 1100), downloads=None, arguments=(), watches_network=False):
        self.requests = {}
        # chromedriver chooses a free port, and prints it.
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.driver.stdout:
            port = re.search(r"started successfully on port (\d+)", line)
            if port:
                break
        else:
            raise SystemExit("chromedriver does not start")
        self.base = f"http://127.0.0.1:{port.group(1)}/session"
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--mute-audio", "--autoplay-policy=no-user-gesture-required",
                            f"--window-size={size[0]},{size[1]}", *arguments]}
        logs = {"browser": "ALL"} | ({"performance": "ALL"} if watches_network else {})
        capabilities = {"goog:chromeOptions": options, "goog:loggingPrefs": logs}
        try:
            self.base += "/" + self.call("", {"capabilities": {"alwaysMatch": capabilities}})["sessionId"]
            self.call("/timeouts", {"script": 60000})
            if downloads:
                self.command("Browser.setDownloadBehavior", behavior="allow", downloadPath=downloads)
        except BaseException:
            self.driver.kill()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("", method="DELETE")
        finally:
            # SIGKILL, because the parent process may have blocked all other signals.
            self.driver.kill()
            self.driver.wait()

    def call(self, path, body=None, method=None):
        request = urllib.request.Request(self.base + path, method=method or ("GET" if body is None else "POST"),
                                         data=None if body is None else json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, timeout=90) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise SystemExit(f"{path}: {json.load(error)['value']['message']}")

    def go(self, address):
        self.call("/url", {"url": address})

    def run(self, script, *arguments):
        """Runs a script, and returns its result."""
        return self.call("/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, script, *arguments):
        """Runs an asynchronous script, the body of a function, and returns its result."""
        script = f"const done = arguments[arguments.length - 1]; (async (...args) => {{ {script} }})(...arguments).then(done, error => done('failed: ' + error));"
        return self.call("/execute/async", {"script": script, "args": list(arguments)})

    def press(self, key):
        self.call("/actions", {"actions": [{"type": "key", "id": "keys", "actions": [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]}]})

    def click(self, selector):
        element = list(self.call("/element", {"using": "css selector", "value": selector}).values())[0]
        self.call(f"/element/{element}/click", {})

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("/screenshot")))

    def command(self, name, **parameters):
        """Sends a DevTools command."""
        return self.call("/goog/cdp/execute", {"cmd": name, "params": parameters})

    def answers(self, origin):
        """Path with query, and status, of each response from a server since the last call.

        Includes responses that Chromium withheld from the page.
        """
        found = []
        for entry in self.call("/se/log", {"type": "performance"}):
            message = json.loads(entry["message"])["message"]
            about = message["params"]
            if message["method"] == "Network.requestWillBeSent":
                self.requests[about["requestId"]] = about["request"]["url"]
            address = self.requests.get(about.get("requestId"), "")
            if message["method"] == "Network.responseReceivedExtraInfo" and address.startswith(origin + "/"):
                found.append((address[len(origin):], about["statusCode"]))
        return found

    def complaints(self):
        """Warnings and errors in the page's console."""
        return [entry["message"] for entry in self.call("/se/log", {"type": "browser"}) if entry["level"] in ("SEVERE", "WARNING")]
