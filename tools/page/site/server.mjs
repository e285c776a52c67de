// What is wrong with a file as the server sends it, in words.

export const WHO = "Whoever hosts this page can correct that.";

const TYPES = { mjs: ["text/javascript", "application/javascript"], wasm: ["application/wasm"] };

const asked = async (name, options) => {
  try {
    return await fetch(name, options);
  } catch {
    throw new Error("The server does not answer. Reload the page when it is there again.");
  }
};

const missing = (name, answer) => `The server has no file ${name} (it answers ${answer.status}). ${WHO}`;

export const fetched = async (name) => {
  const answer = await asked(name);
  if (!answer.ok) throw new Error(missing(name, answer));
  return answer;
};

// Throws an error that says it if the file is missing or has a type with which browsers do not load it.
export const checkFile = async (name) => {
  const answer = await asked(name); // some servers do not answer HEAD
  answer.body?.cancel();
  if (!answer.ok) throw new Error(missing(name, answer));
  const type = (answer.headers.get("Content-Type") || "no type").split(";")[0];
  const types = TYPES[name.split(".").at(-1)];
  if (types && !types.includes(type)) {
    throw new Error(`The server sends ${name} as "${type}". Browsers load it only as "${types[0]}". ${WHO}`);
  }
};
