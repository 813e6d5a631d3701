#!/usr/bin/python3
"""Goes through chapters, shows captions, and plays there and back with J, K and L; says what was seen, as JSON.

    keys.py ADDRESS

The film lasts three seconds at 30 frames a second, which carry their numbers; the last two of its seconds are the second chapter.
"""
import json, sys
from onpage import Browser, HELPERS

# The numbers of the frames that are shown next.
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
    browser.wait("if (video.readyState < 2) await heard('loadeddata'); while (!number()) await new Promise(requestAnimationFrame);")
    seen["chapters"] = browser.run("return [...document.querySelectorAll('#chapters button')].map(button => button.textContent)")
    seen["places"] = browser.wait("""
      const seen = [await sought(() => document.querySelectorAll("#chapters button")[1].click())];
      for (const key of ["[", "]"]) seen.push(await sought(() => press(key)));
      return seen;""")
    seen["captions"] = browser.wait("""
      const track = document.querySelector("track"), loaded = new Promise(done => track.addEventListener("load", done));
      press("c");
      await loaded;
      const seen = [];
      for (const time of [.5, 1.5, 2.5]) {
        await sought(() => { video.currentTime = time; });
        seen.push([...track.track.activeCues].map(cue => cue.text).join());
      }
      press("c");
      return [...seen, track.track.mode];""")
    # The other way goes on from the same picture.
    seen["there"] = browser.wait("""
      const from = await sought(() => { video.currentTime = 1.5 / 30 + .5; }), loaded = heard("loadeddata");
      press("j");
      await loaded;
      const seen = await played(5);
      press("k");
      return [from, video.paused, ...seen];""")
    seen["back"] = browser.wait("""
      const loaded = heard("loadeddata");
      press("l");
      await loaded;
      const seen = await played(5);
      press("l");
      const rate = video.playbackRate;
      press("k");
      return [rate, video.paused, ...seen];""")
    seen["complaints"] = browser.complaints()
print(json.dumps(seen))
