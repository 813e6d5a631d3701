#!/usr/bin/python3
"""Opens pages of other sites in Chromium that send the server every kind of request a page can.

    foreign.py ADDRESS

ADDRESS is a file's page. The other sites are another port of the same address (`same-site`),
`localhost` (`cross-site`) and a name that resolves to the same address. Prints for each, as JSON:
the statuses of the server's answers, the kinds of request that were answered, and the status of a
link to the file's page.
"""
import http.server, json, re, sys, threading, urllib.parse
from onpage import Browser

address = sys.argv[1]
server = urllib.parse.urlsplit(address)
page = server.path
heavy = [page + "usual/info.json", page + "usual/mirror?from=0&to=1", page + "master.m3u8", page + "picture.jpg"]


def attack(origin):
    """A page whose elements all send requests to `origin`."""
    every = [page] + heavy
    elements = []
    for number, path in enumerate(every):
        def at(how):
            return f"{origin}{path}{'&' if '?' in path else '?'}how={how}{number}"
        elements += [f'<iframe src="{at("iframe")}" hidden></iframe>', f'<object data="{at("object")}"></object>', f'<embed src="{at("embed")}">',
                     f'<img src="{at("img")}">', f'<video src="{at("video")}" preload="auto"></video>', f'<script src="{at("script")}"></script>',
                     f'<link rel="stylesheet" href="{at("style")}">', f'<link rel="prefetch" href="{at("prefetch")}">',
                     f'<script>fetch("{at("cors")}").catch(() => 0); fetch("{at("nocors")}", {{ mode: "no-cors" }}).catch(() => 0);</script>']
    return f"<!doctype html><title>other</title>{''.join(elements)}<a id='link' href='{origin}{page}'>look</a>"


class Other(http.server.BaseHTTPRequestHandler):
    origin = ""

    def do_GET(self):
        body = attack(Other.origin).encode() if self.path == "/" else b""
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


other = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Other)
threading.Thread(target=other.serve_forever, daemon=True).start()
own = f"http://{server.netloc}"
named = f"http://films.test:{server.port}"
seen = {}
with Browser(arguments=["--host-resolver-rules=MAP films.test 127.0.0.1"], watches_network=True) as browser:
    for site, asked in [("127.0.0.1", own), ("localhost", own), ("films.test", own), ("films.test", named)]:
        Other.origin = asked
        browser.go(f"http://{site}:{other.server_port}/")
        answers = [(re.search("how=([a-z]+)", path), status) for path, status in browser.answers(asked)]
        browser.click("#link")
        opened = [status for path, status in browser.answers(asked) if path == page]
        seen[f"{site} asks {urllib.parse.urlsplit(asked).hostname}"] = {
            "answers": sorted({status for how, status in answers if how}), "ways": sorted({how[1] for how, _ in answers if how}), "link": opened[:1]}
print(json.dumps(seen))
