"use strict";
// The files of a new batch, and their upload; used by page.js.

// The files of dropped folders, which no field of the form can hold.
let dropped = [];

const HISTORY = ".aider.chat.history.md"; // a hidden file that is read

// The files of the chosen or dropped folders in order.
function filesInFolders() {
  const found = [...document.getElementById("folder").files, ...dropped];
  return found.sort((one, other) => (pathOf(one) < pathOf(other) ? -1 : pathOf(one) > pathOf(other) ? 1 : 0));
}

// Whether the command line may read a file in a folder, by its name; the service decides by all files.
function mayBeRead(form, file) {
  const { folderEndings, notInFolders } = form.dataset;
  const name = file.name.replace(/(\.gz|\.zst)+$/, "");
  if (name.endsWith(notInFolders) || (name.startsWith(".") && name !== HISTORY)) return false;
  return folderEndings.split(" ").some((ending) => name.endsWith(ending));
}

// The files to submit: those chosen or dropped, or those of a folder that the command line may read.
function chosenFiles(form) {
  const inFolder = filesInFolders().filter((each) => mayBeRead(form, each));
  return inFolder.length ? inFolder : [...form.elements.namedItem("file").files];
}

// The files in folders that are not sent, in words; empty if there are none, or only hidden ones and earlier results.
function leftOut(form) {
  const isTold = (each) => !mayBeRead(form, each) && !each.name.startsWith(".") && !each.name.includes(form.dataset.notInFolders);
  const paths = filesInFolders().filter(isTold).map(pathOf);
  if (!paths.length) return "";
  const names = paths.slice(0, 5).join(", ") + (paths.length > 5 ? ", …" : "");
  return `${paths.length.toLocaleString("en")} ${paths.length > 1 ? "files" : "file"} left out: ${names}`;
}

// The whole form, with the files last.
function withFiles(form) {
  const body = new FormData(form);
  const chosen = chosenFiles(form);
  if (!chosen.length) return body;
  body.delete("file");
  body.append("file_count", String(chosen.length));
  const roots = new Set(chosen.map((each) => pathOf(each).split("/")[0]));
  // The files of a folder are read together, as the command line reads it.
  if (pathOf(chosen[0])) body.append("folder", roots.size > 1 ? "" : pathOf(chosen[0]).split("/")[0]);
  for (const each of chosen) body.append("file", each, pathOf(each).split("/").slice(roots.size > 1 ? 0 : 1).join("/") || each.name);
  return body;
}

// XMLHttpRequest, because fetch does not report an upload's progress.
function send(form) {
  const button = document.getElementById("submit");
  const uploading = document.getElementById("uploading");
  const progress = document.getElementById("upload-progress");
  const uploadStatus = document.getElementById("upload-status");
  const request = new XMLHttpRequest();
  const done = () => {
    button.disabled = false;
    uploading.hidden = true;
  };
  request.open("POST", form.action);
  request.setRequestHeader("Accept", "text/html");
  request.setRequestHeader("HX-Request", "true");
  request.setRequestHeader("HX-Current-URL", location.href);
  request.upload.addEventListener("progress", (event) => {
    if (!event.lengthComputable) return;
    const percent = Math.floor((100 * event.loaded) / event.total);
    progress.value = percent;
    // Rounded, because a screen reader would announce each percent.
    const news = `${percent - (percent % 10)} % of ${event.total.toLocaleString("en")} bytes`;
    if (uploadStatus.textContent !== news) uploadStatus.textContent = news;
  });
  request.upload.addEventListener("load", () => {
    uploadStatus.textContent = "All sent; the last cases are being submitted.";
  });
  request.addEventListener("load", () => {
    if (request.status < 400) {
      location.assign(request.responseURL);
      return;
    }
    done();
    if (askToSignIn(request.getResponseHeader("HX-Redirect"))) return;
    const found = parsed(request.responseText);
    adopt(found, "graders");
    if (!adoptProblem(found)) tell(`The service answered ${request.status}.`);
    focusProblem();
  });
  request.addEventListener("error", () => {
    done();
    tell("The upload was interrupted: the service refused it, or cannot be reached. Your input is still in the form; submit it again.");
  });
  button.disabled = true;
  uploading.hidden = false;
  request.send(withFiles(form));
}
