#!/usr/bin/python3
"""Plays a reversed film in Chromium, and prints what the page showed, as JSON.

    browser.py ADDRESS FRAMES RATE DOWNLOADS

The frames show their numbers, as TestMedia paints them. The number of the displayed frame is read
from the page's own video element.
"""
import json, os, sys
from onpage import Browser, HELPERS

address, frames, rate, downloads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]

seen = {}
with Browser(downloads=downloads) as browser:
    browser.go(address)
    browser.run(HELPERS)
    seen["first"] = browser.wait("if (video.readyState < 2) await nextEvent('loadeddata'); while (!number()) await new Promise(requestAnimationFrame); return number();")
    seen["page"] = browser.run("""
      const line = document.getElementById("line");
      return [document.getElementById("title").textContent, video.duration, line.getAttribute("role"), line.getAttribute("aria-valuemax"),
              line.getAttribute("aria-valuetext"), document.querySelectorAll("button:not([aria-label]):empty").length];""")
    steps = []
    for key in [".", ".", ",", "."]:
        steps.append(browser.wait("return await frameAfter(() => press(args[0]));", key))
    seen["steps"] = steps
    seen["seeks"] = browser.wait("""
      const seen = [];
      for (const frame of args[0]) seen.push(await frameAfter(() => { video.currentTime = (frame + .5) / args[1]; }));
      return seen;""", [frames - 1, 7, frames // 2, 0], rate)
    # All displayed frames: the number by time, and the number painted in the frame.
    seen["played"] = browser.wait("""
      const seen = [];
      const take = (_, { mediaTime }) => { seen.push([Math.round(mediaTime * args[0]), number()]); video.requestVideoFrameCallback(take); };
      video.requestVideoFrameCallback(take);
      const ended = nextEvent("ended");
      document.getElementById("play").click();
      await ended;
      return seen;""", rate)
    seen["dropped"] = browser.run("return video.getVideoPlaybackQuality().droppedVideoFrames")
    seen["ping-pong"] = browser.wait("""
      const loaded = nextEvent("loadeddata");
      document.querySelector("input[value=ping-pong]").click();
      await loaded;
      await frameAfter(() => { video.currentTime = 0; });
      const seen = [number()];
      for (const frame of [args[0] - 1, args[0], 2 * args[0] - 2]) seen.push(await frameAfter(() => { video.currentTime = (frame + .5) / args[1]; }));
      return seen;""", frames, rate)
    seen["command"] = browser.wait("""
      const loaded = nextEvent("loadeddata");
      document.querySelector("input[value=reverse]").click();
      await loaded;
      // Each in or out mark fetches the command from the server.
      const code = document.getElementById("command");
      const shows = part => new Promise(done => {
        const look = () => code.textContent.includes(part) && done();
        new MutationObserver(look).observe(code, { childList: true });
        look();
      });
      await frameAfter(() => { video.currentTime = 10 / args[0]; });
      press("i");
      await shows("--end ");
      await frameAfter(() => { video.currentTime = 40 / args[0]; });
      press("o");
      await shows("--start 1.");
      return code.textContent;""", rate)
    # The browser names a download when it is complete.
    browser.click("#take")
    seen["said"] = browser.wait("""
      const button = document.getElementById("take");
      if (button.textContent == "Stop") await new Promise(done => new MutationObserver(() => button.textContent != "Stop" && done()).observe(button, { childList: true }));
      return document.getElementById("said").textContent;""")
    for _ in range(2000):
        names = [name for name in os.listdir(downloads) if name.endswith(".mp4")]
        if names:
            break
        browser.run("return 1")
    seen["file"] = names
    seen["complaints"] = browser.complaints()
print(json.dumps(seen))
