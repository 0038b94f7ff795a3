"use strict";
// Progressive enhancement only: every form and link works without this file.

const newBatch = document.getElementById("new-batch");
if (newBatch) enhanceNewBatch(newBatch);

function enhanceNewBatch(form) {
  const file = form.elements.namedItem("file");
  const folder = document.getElementById("folder");
  document.getElementById("folder-field").hidden = false;
  const text = form.elements.namedItem("text");
  const drop = document.getElementById("drop");
  let waiting = 0;
  let looking = null;
  let reading = null; // the entries of the folders that were dropped last

  // Show the service's preview of the form; return false if the form is invalid.
  const look = async (isAsked = false, isSubmitting = false) => {
    looking?.abort();
    looking = new AbortController();
    const preview = document.getElementById("preview");
    if (!isAsked && !chosenFiles(form).length && !text.value.trim()) {
      preview.replaceChildren();
      return true;
    }
    preview.setAttribute("aria-busy", "true");
    try {
      const options = { method: "POST", body: head(isSubmitting), headers: { Accept: "text/html", "HX-Request": "true", "HX-Current-URL": location.href } };
      const answer = await fetch("/new/preview", { ...options, signal: looking.signal });
      if (askToSignIn(answer.headers.get("HX-Redirect"))) return false;
      const found = parsed(await answer.text());
      adoptProblem(found);
      adopt(found, "preview");
      if (answer.ok) adoptColumns(found);
      // Do not replace the form while the user is editing it.
      if (answer.ok) clearProblems(document.getElementById("graders"));
      else if (isAsked) adopt(found, "graders");
      return answer.ok;
    } catch (error) {
      if (error.name !== "AbortError") tell(`The preview failed: ${error.message}`);
      return error.name === "AbortError";
    } finally {
      preview.removeAttribute("aria-busy");
    }
  };

  // A preview needs only the beginning of a file, and of Parquet the end too, with the footer.
  const head = (isSubmitting) => {
    const body = new FormData(form);
    body.delete("file");
    if (isSubmitting) body.append("submitting", "true");
    const files = chosenFiles(form);
    // The first rows of a database or of Markdown cannot be seen in its beginning.
    const chosen = files.find((each) => !/\.(db|sqlite3?|md)(-wal)?$/.test(each.name)) ?? files[0];
    if (!text.value.trim() && chosen) {
      body.append("file_size", String(chosen.size));
      body.append("file_count", String(files.length));
      body.append("file", beginning(chosen), chosen.name);
    } else {
      // With pasted lines, only the file's name is sent, to get the error that there are both.
      body.append("file", new Blob([]), chosen?.name ?? "");
    }
    return body;
  };

  const beginning = (chosen) => {
    const [first, last] = form.dataset[/\.(parquet|pq)$/i.test(chosen.name) ? "parquetBytes" : "previewBytes"].split(" ").map(Number);
    return new Blob([chosen.slice(0, first), chosen.slice(Math.max(first, chosen.size - last))]);
  };

  const lookSoon = (milliseconds) => {
    clearTimeout(waiting);
    waiting = setTimeout(look, milliseconds);
  };

  // The alert may be far above or below the field of the file.
  const lookAtFile = async () => {
    clearTimeout(waiting);
    if (!(await look())) focusProblem();
  };

  const chosenFile = () => {
    // An answer about the files before would bring back their columns.
    looking?.abort();
    removePickers();
    const chosen = chosenFiles(form);
    const size = chosen.reduce((bytes, each) => bytes + each.size, 0).toLocaleString("en");
    const name = chosen.length > 1 ? `${chosen.length.toLocaleString("en")} files` : chosen[0]?.name;
    const nothing = folder.files.length ? "The folder has no file to read." : "";
    document.getElementById("file-chosen").textContent = name ? `${name}, ${size} bytes` : nothing;
    document.getElementById("left-out").textContent = leftOut(form);
    lookAtFile();
  };

  // Files, a folder and dropped folders replace each other.
  for (const [input, other] of [[file, folder], [folder, file]]) {
    input.addEventListener("change", () => {
      if (input.files.length) other.value = "";
      dropped = [];
      reading = null;
      chosenFile();
    });
  }

  const readFolders = async (entries) => {
    reading = entries;
    dropped = [];
    file.value = folder.value = "";
    chosenFile();
    const status = document.getElementById("file-chosen");
    status.textContent = "Reading the folder…";
    try {
      const found = await filesInEntries(entries);
      if (reading !== entries) return;
      dropped = found;
      chosenFile();
      if (!chosenFiles(form).length) status.textContent = "The folder has no file to read.";
    } catch (error) {
      if (reading === entries) status.textContent = error.message;
    }
  };
  form.addEventListener("input", (event) => {
    if (event.target !== file && event.target !== folder) lookSoon(400);
  });
  for (const name of ["dragenter", "dragover"]) {
    drop.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.add("over-it");
    });
  }
  for (const name of ["dragleave", "drop"]) {
    drop.addEventListener(name, () => drop.classList.remove("over-it"));
  }
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    const entries = droppedEntries(event.dataTransfer);
    if (entries.length) {
      readFolders(entries);
      return;
    }
    if (!event.dataTransfer.files.length) return;
    // Setting the files of a field fires no event.
    folder.value = "";
    file.files = event.dataTransfer.files;
    file.dispatchEvent(new Event("change"));
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    clearTimeout(waiting);
    const isSubmitting = event.submitter?.id !== "look";
    // Validate settings before a long upload.
    const isAccepted = await look(true, isSubmitting);
    if (!isAccepted) focusProblem();
    else if (isSubmitting) send(form);
    else document.getElementById("preview").scrollIntoView({ block: "nearest" });
  });
}

function parsed(html) {
  return new DOMParser().parseFromString(html, "text/html");
}

// Copy an element by id from another page; return false if it has none.
function adopt(page, id) {
  const found = page.getElementById(id);
  if (found) document.getElementById(id).replaceChildren(...found.childNodes);
  return Boolean(found);
}
