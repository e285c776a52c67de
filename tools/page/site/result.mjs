// Shows the result of a check: the verdict, the report in a frame, the other forms, and the fixed model.

const at = (id) => document.getElementById(id);

const TYPES = { html: "text/html", json: "application/json", sarif: "application/json", markdown: "text/markdown" };

let addresses = []; // of blobs that the last result shows

const addressOf = (bytes, type) => {
  const address = URL.createObjectURL(new Blob([bytes], { type }));
  addresses.push(address);
  return address;
};

const counted = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

const MAX_NAMES = 10;

const notChecked = (names) => {
  const shown = names.slice(0, MAX_NAMES).join(", ");
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : "";
  return `Not checked: ${shown}${more}. Their names are not those of models, and no model names them as its data.`
    + " To check one of them, choose it without models.";
};

let markdown = "";

export const hideResult = () => {
  at("result").hidden = true;
  at("fixed").hidden = true;
  for (const address of addresses) URL.revokeObjectURL(address);
  addresses = [];
};

// Shows it in a new frame: another address in the same frame would be a step of the browser's Back button.
const showReport = (address) => {
  const frame = at("report").cloneNode();
  frame.src = address;
  at("report").replaceWith(frame);
};

export const showResult = (done) => {
  const reports = Object.fromEntries(done.files.map((each) => [each.name, each.bytes]));
  const { summary } = done;
  markdown = new TextDecoder().decode(reports.markdown);
  at("verdict").textContent = summary.verdict;
  at("verdict").dataset.conforms = String(summary.conforms);
  at("why").textContent = summary.conforms === null ? `No verdict: ${summary.conforms_why}` : "";
  at("why").hidden = !at("why").textContent;
  at("hint").hidden = !done.lacks_data;
  at("hint").textContent = "A data file of the model is missing. Drop the data files together with the model, or the"
    + " whole folder: a page cannot read other files by itself.";
  at("left-out").hidden = !done.left_out.length;
  at("left-out").textContent = notChecked(done.left_out);
  for (const name of ["html", "json", "sarif"]) at(`save-${name}`).href = addressOf(reports[name], TYPES[name]);
  showReport(at("save-html").href);
  const fixes = done.safe_fixes + done.unsafe_fixes;
  at("fix").hidden = !fixes;
  at("fix").textContent = `Fix ${counted(fixes, "finding")}`;
  at("unsafe").checked = !done.safe_fixes;
  at("unsafe").parentElement.hidden = !done.unsafe_fixes;
  at("copied").textContent = "";
  at("result").hidden = false;
  at("verdict").focus();
};

export const copyMarkdown = async () => {
  try {
    await navigator.clipboard.writeText(markdown);
    at("copied").textContent = "Copied.";
  } catch { // an origin without TLS, or the permission is denied
    const link = document.createElement("a");
    link.href = addressOf(markdown, TYPES.markdown);
    link.download = "onnx-lint.md";
    link.click();
    at("copied").textContent = "The browser does not let this page copy: the text is saved as onnx-lint.md.";
  }
};

export const showFixed = (done) => {
  const count = done.files.length;
  at("fixed-title").textContent = count ? "The fixed model" : "Nothing was fixed";
  at("difference").textContent = [done.difference, done.said].filter(Boolean).join("\n") || "No bytes change.";
  at("fixed-files").replaceChildren(...done.files.map(({ name, bytes }) => {
    const link = document.createElement("a");
    link.className = "button";
    link.href = addressOf(bytes, "application/octet-stream");
    link.download = name.split("/").at(-1);
    link.textContent = `Save ${name}`;
    return link;
  }));
  at("fixed").hidden = false;
  at("fixed-title").focus();
};
