// The files that somebody drops or chooses, each with its path: [{ path, file }].

import { fetched } from "./server.mjs";

export const chosenFiles = (input) =>
  [...input.files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));

const fileOf = (entry) => new Promise((resolve, reject) => entry.file(resolve, reject));

const entriesIn = async (folder) => {
  const reader = folder.createReader();
  const found = [];
  for (;;) { // a reader returns at most a hundred entries at a time
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return found;
    found.push(...some);
  }
};

const filesOf = async (entry) => {
  if (entry.isFile) return [{ path: entry.fullPath.slice(1), file: await fileOf(entry) }];
  return (await Promise.all((await entriesIn(entry)).map(filesOf))).flat();
};

export const droppedFiles = async (transfer) => {
  const items = [...transfer.items].filter((item) => item.kind === "file");
  const entries = items.map((item) => item.webkitGetAsEntry()); // before the first await, after which they are gone
  if (entries.every(Boolean)) return (await Promise.all(entries.map(filesOf))).flat();
  return [...transfer.files].map((file) => ({ path: file.name, file }));
};

export const exampleFiles = (names) => Promise.all(names.map(async (name) => {
  const answer = await fetched(`examples/${name}`);
  return { path: name, file: await answer.blob() };
}));

// Returns the first path that is there twice: files from different folders can be dropped at once, without these.
export const firstTwice = (paths) => {
  const seen = new Set();
  return paths.find((path) => seen.size === seen.add(path).size);
};

export const sizeInWords = (bytes) => {
  if (bytes < 1e3) return `${bytes} bytes`;
  const [unit, size] = bytes < 1e6 ? ["kB", bytes / 1e3] : bytes < 1e9 ? ["MB", bytes / 1e6] : ["GB", bytes / 1e9];
  return `${size.toFixed(size < 10 ? 1 : 0)} ${unit}`;
};
