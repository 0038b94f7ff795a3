"use strict";
// The whole name of the batch that is chosen in a select, which has no room for a long one.
for (const shown of document.querySelectorAll(".chosen[data-of]")) {
  const select = document.getElementById(shown.dataset.of);
  const show = () => {
    const [option] = select.selectedOptions;
    shown.textContent = select.title = option?.value ? option.textContent : "";
  };
  select.addEventListener("change", show);
  // A browser may have kept what was chosen before the page was loaded again.
  show();
}
