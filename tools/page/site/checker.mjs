// onnx-lint in a worker: starts it, asks it to check or fix files, and stops it.

import { checkFile } from "./server.mjs";

export class Stopped extends Error {}

export class Checker {
  #worker = null;
  #asked = null; // { resolve, reject, onProgress } of the call that is running
  #onState;

  // `onState` is called with { state: "loading" | "ready" | "broken", ... } as the worker says.
  constructor(onState) {
    this.#onState = onState;
    this.#start();
  }

  check(files, settings, onProgress) {
    return this.#ask({ call: "check", files, settings }, onProgress);
  }

  fix(files, settings, onProgress) {
    return this.#ask({ call: "fix", files, settings }, onProgress);
  }

  // Ends the call that is running. Python cannot be interrupted, so that a new worker has to load it again.
  stop() {
    this.#restart(new Stopped("Stopped."));
  }

  #start() {
    this.#worker = new Worker("./worker.mjs", { type: "module" });
    this.#worker.onmessage = ({ data }) => this.#heard(data);
    this.#worker.onerror = async (event) => {
      event.preventDefault();
      const words = event.message || "The worker cannot start.";
      const fault = await checkFile("worker.mjs").then(() => words, (error) => error.message);
      this.#onState({ state: "broken", words: fault });
    };
  }

  #restart(error) {
    this.#worker.terminate();
    const asked = this.#asked;
    this.#asked = null;
    this.#start();
    asked?.reject(error);
  }

  #ask(message, onProgress) {
    return new Promise((resolve, reject) => {
      this.#asked = { resolve, reject, onProgress };
      this.#worker.postMessage(message);
    });
  }

  #heard(data) {
    if (data.state) this.#onState(data);
    else if (data.progress) this.#asked?.onProgress(data.progress);
    else if (data.fatal) this.#restart(new Error(data.fatal));
    else {
      const asked = this.#asked;
      this.#asked = null;
      if (data.failed) asked?.reject(new Error(data.failed));
      else asked?.resolve(data.done);
    }
  }
}
