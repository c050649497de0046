/* Pages that are read from files may have no workers, and the search is one: a hidden frame stands in for it. The theme would fetch such a thing from another
   host; it looks for it by the name IFrameWorker. */
"use strict";
class IFrameWorker extends EventTarget {
  constructor(url) {
    super();
    const frame = document.createElement("iframe");
    frame.hidden = true;
    document.body.appendChild(frame);
    const inner = (this.inner = frame.contentWindow);
    const add = source => new Promise((done, failed) => {
      const script = inner.document.createElement("script");
      script.src = source;
      script.onload = done;
      script.onerror = failed;
      inner.document.body.appendChild(script);
    });
    inner.postMessage = data => setTimeout(() => this.answer("message", { data }));
    inner.importScripts = (...urls) => urls.reduce((before, next) => before.then(() => add(next)), Promise.resolve());
    this.waiting = add(new URL(url, document.baseURI).href).catch(error => this.answer("error", { data: error }));
  }
  answer(kind, what) {
    const event = new MessageEvent(kind, what);
    this.dispatchEvent(event);
    if (this[`on${kind}`]) this[`on${kind}`](event);
  }
  postMessage(data) {
    this.waiting.then(() => this.inner.dispatchEvent(new this.inner.MessageEvent("message", { data })));
  }
  terminate() {
    this.inner.frameElement.remove();
  }
}
if (location.protocol === "file:") {
  window.IFrameWorker = IFrameWorker;
  window.Worker = IFrameWorker;
}
