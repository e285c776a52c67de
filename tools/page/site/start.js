"use strict";
// Starts the page, or says in words why it cannot start. This is no module, since browsers load none from `file:`,
// and none that the server sends under a wrong type.
(() => {
  const say = (text) => {
    const problem = document.getElementById("problem");
    problem.textContent = text;
    problem.hidden = false;
    document.getElementById("state").textContent = "The page has not started.";
    document.getElementById("choose").hidden = true;
  };

  const WHOEVER_HOSTS = "Whoever hosts this page can correct that.";

  const whyNot = async (name) => {
    let answer;
    try {
      answer = await fetch(name, { cache: "no-store" });
    } catch {
      return "The server does not answer. Reload the page when it is there again.";
    }
    if (!answer.ok) return `The server has no file ${name} (it answers ${answer.status}). ${WHOEVER_HOSTS}`;
    const type = (answer.headers.get("Content-Type") || "no type").split(";")[0];
    if (!/javascript/.test(type)) {
      return `The server sends ${name} as "${type}". Browsers run it only as "text/javascript". ${WHOEVER_HOSTS}`;
    }
    return null;
  };

  const MODULES = ["page.mjs", "checker.mjs", "files.mjs", "result.mjs", "server.mjs"];

  const start = async () => {
    if (location.protocol === "file:") {
      say("This page cannot run from a file: browsers start Python only on a page from a web server."
        + " Start one in this folder with:\n\npython3 -m http.server --bind 127.0.0.1\n\n"
        + "and open http://127.0.0.1:8000/");
      return;
    }
    if (typeof WebAssembly !== "object" || typeof Worker !== "function") {
      say("This browser has no WebAssembly or no workers, which onnx-lint needs. A current browser has both.");
      return;
    }
    try {
      const page = await import("./page.mjs");
      await page.start();
    } catch (error) {
      const reasons = await Promise.all(MODULES.map(whyNot));
      say(reasons.find(Boolean) || `The page cannot start: ${error}`);
    }
  };

  start();
})();
