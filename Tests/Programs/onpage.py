"""What the programs that drive the page in Chromium share: they import the browser and HELPERS, which they run in the page first."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
from webdriver import Browser

# The number of the frame on show, in sixteen blocks of light and dark; and what waits for the next one of some kind of event.
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
window.heard = name => new Promise((go, stop) => {
  video.addEventListener(name, go, { once: true });
  setTimeout(() => stop(name + " never came: " + document.getElementById("notice").textContent), 20000);
});
window.shown = () => new Promise(go => video.requestVideoFrameCallback(go));
// A seek may have ended before its frame is painted.
window.sought = async action => { const frame = shown(), seeked = heard("seeked"); action(); await seeked; await frame; return number(); };
window.press = key => document.dispatchEvent(new KeyboardEvent("keydown", { key }));
"""
