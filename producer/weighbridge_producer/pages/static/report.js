"use strict";
// The table of a report: its rows are data in the page, and only a few are rendered at a time.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const [ID, LABEL, OUTCOME, SCORE, CAUSE, REASON, DETAIL] = [0, 1, 2, 3, 4, 5, 6];
  const PAGE = 100;
  const at = (name) => document.getElementById(name);
  const inputs = { outcome: at("f-outcome"), label: at("f-label"), cause: at("f-cause"), text: at("f-text") };
  const body = at("table").tBodies[0];
  // Failures first, each group in the order of the input.
  const ranks = data.ranks;
  data.rows.sort((one, other) => ranks[one[OUTCOME]] - ranks[other[OUTCOME]]);
  let found = [];
  let first = 0;

  const options = (select, names) => {
    names.forEach((name, number) => {
      if (name) select.add(new Option(name, String(number)));
    });
  };

  const choose = () => {
    const wanted = (select) => (select.value === "" ? -1 : Number(select.value));
    const [outcome, label, cause] = [wanted(inputs.outcome), wanted(inputs.label), wanted(inputs.cause)];
    const text = inputs.text.value.toLowerCase();
    found = data.rows.filter(
      (row) =>
        (outcome < 0 || row[OUTCOME] === outcome) &&
        (label < 0 || row[LABEL] === label) &&
        (cause < 0 || row[CAUSE] === cause) &&
        (!text || row[ID].toLowerCase().includes(text) || row[REASON].toLowerCase().includes(text)),
    );
    first = 0;
    draw();
  };

  const cell = (row, text, name) => {
    const made = row.insertCell();
    made.textContent = text;
    made.role = "cell";
    if (name) made.className = name;
    return made;
  };

  const draw = () => {
    body.replaceChildren();
    for (const each of found.slice(first, first + PAGE)) {
      const row = body.insertRow();
      row.role = "row";
      const name = cell(row, "", "mono of-case");
      if (each[DETAIL]) {
        const link = document.createElement("a");
        link.href = `#r-${each[DETAIL]}`;
        link.textContent = each[ID];
        name.append(link);
      } else {
        name.textContent = each[ID];
      }
      cell(row, data.labels[each[LABEL]]);
      const badge = document.createElement("span");
      badge.className = `badge ${data.outcomes[each[OUTCOME]]}`;
      badge.textContent = data.outcomes[each[OUTCOME]];
      cell(row, "").append(badge);
      const score = cell(row, each[SCORE] === null ? "" : String(each[SCORE]), "numeric");
      if (score.textContent) score.dataset.name = "score";
      cell(row, each[REASON] || data.causes[each[CAUSE]] || "", "of-why");
    }
    const last = Math.min(first + PAGE, found.length);
    const missing = data.missing ? `; ${data.missing.toLocaleString("en")} more are not in this file` : "";
    at("shown-range").textContent = found.length
      ? `${(first + 1).toLocaleString("en")} to ${last.toLocaleString("en")} of ${found.length.toLocaleString("en")}${missing}`
      : "No matching results";
    at("earlier").hidden = first === 0;
    at("later").hidden = last === found.length;
  };

  const move = (by) => {
    first += by;
    draw();
    at("results").scrollIntoView();
  };

  // `#cause=N` filters by a cause; any other fragment is an element, whose collapsed result is expanded.
  const follow = () => {
    const fragment = decodeURIComponent(location.hash.slice(1));
    const wanted = /^cause=(\d+)-(\d+)$/.exec(fragment);
    if (wanted) {
      inputs.outcome.value = "";
      inputs.text.value = "";
      inputs.label.value = wanted[1];
      inputs.cause.value = wanted[2];
      choose();
      at("results").scrollIntoView();
      return;
    }
    const target = at(fragment);
    if (!target) return;
    for (let each = target; each; each = each.parentElement) {
      if (each.tagName === "DETAILS") each.open = true;
    }
    const inside = target.classList.contains("step") && target.querySelector("details");
    if (inside) inside.open = true;
    target.scrollIntoView({ block: "start" });
  };

  options(inputs.outcome, data.outcomes);
  options(inputs.label, data.labels);
  options(inputs.cause, data.causes);
  for (const input of Object.values(inputs)) input.addEventListener("input", choose);
  at("filters").addEventListener("submit", (event) => event.preventDefault());
  at("filters").hidden = false;
  at("table").hidden = false;
  at("earlier").addEventListener("click", () => move(-PAGE));
  at("later").addEventListener("click", () => move(PAGE));
  addEventListener("hashchange", follow);
  choose();
  follow();
})();
