#!/usr/bin/python3
"""Visits chapters, shows captions, and plays in both directions with J, K and L.

    keys.py ADDRESS

The film lasts three seconds at 30 frames a second; the frames show their numbers. The second
chapter is the last two seconds. Prints what the page showed, as JSON.
"""
import json, sys
from onpage import Browser, HELPERS

# Numbers of the next displayed frames.
PLAYED = """
window.played = count => new Promise(done => {
  const seen = [];
  const take = () => { seen.push(number()); seen.length < count ? video.requestVideoFrameCallback(take) : done(seen); };
  video.requestVideoFrameCallback(take);
});
"""

seen = {}
with Browser() as browser:
    browser.go(sys.argv[1])
    browser.run(HELPERS + PLAYED)
    browser.wait("if (video.readyState < 2) await nextEvent('loadeddata'); while (!number()) await new Promise(requestAnimationFrame);")
    seen["chapters"] = browser.run("return [...document.querySelectorAll('#chapters button')].map(button => button.textContent)")
    seen["places"] = browser.wait("""
      const seen = [await frameAfter(() => document.querySelectorAll("#chapters button")[1].click())];
      for (const key of ["[", "]"]) seen.push(await frameAfter(() => press(key)));
      return seen;""")
    seen["captions"] = browser.wait("""
      const track = document.querySelector("track"), loaded = new Promise(done => track.addEventListener("load", done));
      press("c");
      await loaded;
      const seen = [];
      for (const time of [.5, 1.5, 2.5]) {
        await frameAfter(() => { video.currentTime = time; });
        seen.push([...track.track.activeCues].map(cue => cue.text).join());
      }
      press("c");
      return [...seen, track.track.mode];""")
    # The other direction resumes at the same frame.
    seen["there"] = browser.wait("""
      const from = await frameAfter(() => { video.currentTime = 1.5 / 30 + .5; }), loaded = nextEvent("loadeddata");
      press("j");
      await loaded;
      const seen = await played(5);
      press("k");
      return [from, video.paused, ...seen];""")
    seen["back"] = browser.wait("""
      const loaded = nextEvent("loadeddata");
      press("l");
      await loaded;
      const seen = await played(5);
      press("l");
      const rate = video.playbackRate;
      press("k");
      return [rate, video.paused, ...seen];""")
    seen["complaints"] = browser.complaints()
print(json.dumps(seen))
