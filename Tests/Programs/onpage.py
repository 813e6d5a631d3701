"""Shared by programs that drive the page in Chromium: Browser, and HELPERS to run in the page."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
from webdriver import Browser

# number() reads the number of the displayed frame from its sixteen light and dark blocks.
# nextEvent() waits for an event of a kind. frameAfter() seeks and returns the number of the new
# frame. press() presses a key.
HELPERS = """
window.video = document.querySelector("video");
window.number = () => {
  const canvas = new OffscreenCanvas(video.videoWidth, video.videoHeight), context = canvas.getContext("2d", { willReadFrequently: true });
  context.drawImage(video, 0, 0);
  let number = 0;
  for (let block = 0; block < 16; block++) {
    const [x, y] = [(block % 4 * 2 + 1) * canvas.width / 8, ((block >> 2) * 2 + 1) * canvas.height / 8];
    if (context.getImageData(x, y, 1, 1).data[1] > 125) number |= 1 << block;
  }
  return number;
};
window.nextEvent = name => new Promise((go, stop) => {
  video.addEventListener(name, go, { once: true });
  setTimeout(() => stop(name + " never came: " + document.getElementById("notice").textContent), 20000);
});
// A seek may end before its frame is painted, and an earlier frame may be painted after it began.
// The films have 30 frames a second.
window.frameAfter = async action => {
  let isEnded = false, painted;
  const frame = new Promise(go => {
    const take = (_, { mediaTime }) => {
      painted = mediaTime;
      isEnded && isThere() ? go() : video.requestVideoFrameCallback(take);
    };
    video.requestVideoFrameCallback(take);
  });
  const isThere = () => painted <= video.currentTime + 1e-3 && video.currentTime < painted + 1 / 30 + 1e-3;
  const seeked = nextEvent("seeked");
  action();
  await seeked;
  isEnded = true;
  if (!isThere()) await frame;
  return number();
};
window.press = key => document.dispatchEvent(new KeyboardEvent("keydown", { key }));
"""
