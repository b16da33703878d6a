// A browser starts no worker of a page that is opened from disk, and the search runs in one. For such
// pages the code of the worker runs in a hidden frame, whose messages go through its window.
if (window.location.protocol === "file:") {
  window.Worker = class {
    constructor(url) {
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.title = "search";
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => this.receive(structuredClone(data));
      this.ready = new Promise((resolve, reject) => {
        const script = this.frame.contentDocument.createElement("script");
        script.src = url;
        script.onload = resolve;
        script.onerror = () => reject(new Error(`${url} cannot be loaded`));
        this.frame.contentDocument.body.append(script);
      });
      this.ready.catch((error) => this.onerror?.(new ErrorEvent("error", { error })));
    }

    receive(data) {
      setTimeout(() => this.onmessage?.(new MessageEvent("message", { data })));
    }

    postMessage(message) {
      const data = structuredClone(message); // as it is now: a page goes on to change it
      this.ready.then(() => {
        const inside = this.frame.contentWindow;
        inside.dispatchEvent(new inside.MessageEvent("message", { data }));
      });
    }

    terminate() {
      this.frame.remove();
    }
  };
}
