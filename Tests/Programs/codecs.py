#!/usr/bin/python3
"""Plays a reversed film in Chromium in the codec that the page chooses, then in the other one.

    codecs.py ADDRESS OTHER

OTHER is the rendition to select by hand. Prints what the page showed, as JSON.
"""
import json, sys
from onpage import Browser, HELPERS

address, other = sys.argv[1:]
ASKED = """
return [...new Set(performance.getEntriesByType("resource").map(one => one.name.match(/([^/]+)\\/init[.]mp4/)?.[1]).filter(Boolean))];
"""

seen = {}
with Browser() as browser:
    browser.go(address)
    browser.run(HELPERS)
    seen["first"] = browser.wait("if (video.readyState < 2) await nextEvent('loadeddata'); while (!number()) await new Promise(requestAnimationFrame); return number();")
    seen["sizes"] = browser.run("return [...document.getElementById('size').options].map(one => one.label);")
    seek = "return await frameAfter(() => { video.currentTime = (args[0] + .5) / 30; });"
    seen["own"] = [browser.wait(seek, frame) for frame in [50, 10]]
    seen["asked"] = browser.run(ASKED)
    browser.run("const size = document.getElementById('size'); size.value = arguments[0]; size.dispatchEvent(new Event('change', { bubbles: true }));", other)
    seen["other"] = [browser.wait(seek, frame) for frame in [60, 20]]
    seen["asked then"] = browser.run(ASKED)
    seen["complaints"] = browser.complaints()
print(json.dumps(seen))
