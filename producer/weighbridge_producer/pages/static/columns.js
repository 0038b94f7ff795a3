"use strict";
// The columns of a new batch's rows; used by page.js.

// They depend on the cases. Scripts send the file last wherever it stands, which browsers alone do not.
document.getElementById("cases").after(document.getElementById("columns"));

// The columns of the chosen file; selections are kept while the columns are the same.
function adoptColumns(page) {
  const found = page.getElementById("columns");
  const shown = document.getElementById("columns");
  if (!found) return;
  if (found.dataset.key === shown.dataset.key) {
    const texts = Array.from(found.querySelectorAll("option"), (option) => option.textContent);
    for (const [index, option] of shown.querySelectorAll("option").entries()) option.textContent = texts[index];
    return;
  }
  shown.dataset.key = found.dataset.key;
  shown.hidden = found.hidden;
  adopt(page, "columns");
}

// Other files have columns of their own. A mapping that was written stays.
function removePickers() {
  const shown = document.getElementById("columns");
  for (const part of shown.querySelectorAll(":scope > :not(legend, details)")) part.remove();
  delete shown.dataset.key;
}
