"use strict";
// The files of a new batch, and their upload; used by page.js.

// The files of dropped folders, which no field of the form can hold.
let dropped = [];

// The files to submit: those chosen or dropped, or those of a folder that the command line would read.
function chosenFiles(form) {
  const { folderEndings, notInFolders } = form.dataset;
  const isRead = (each) => {
    const name = each.name.replace(/(\.gz|\.zst)+$/, "");
    const isHidden = pathOf(each).split("/").some((part) => part.startsWith("."));
    return !isHidden && !name.endsWith(notInFolders) && folderEndings.split(" ").some((ending) => name.endsWith(ending));
  };
  const inFolder = [...document.getElementById("folder").files, ...dropped].filter(isRead);
  inFolder.sort((one, other) => (pathOf(one) < pathOf(other) ? -1 : pathOf(one) > pathOf(other) ? 1 : 0));
  return inFolder.length ? inFolder : [...form.elements.namedItem("file").files];
}

// The whole form, with the files last.
function withFiles(form) {
  const body = new FormData(form);
  const chosen = chosenFiles(form);
  if (!chosen.length) return body;
  body.delete("file");
  body.append("file_count", String(chosen.length));
  const roots = new Set(chosen.map((each) => pathOf(each).split("/")[0]));
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
    if (!adopt(found, "problem")) tell(`The service answered ${request.status}.`);
    document.getElementById("problem").focus();
  });
  request.addEventListener("error", () => {
    done();
    tell("The upload was interrupted: the service refused it, or cannot be reached. Your input is still in the form; submit it again.");
  });
  button.disabled = true;
  uploading.hidden = false;
  request.send(withFiles(form));
}
