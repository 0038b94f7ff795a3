"use strict";
// What is wrong with the form for a new batch; used by page.js.

// Show another page's problem, or that it has none: one of the cases at their fields, others at the top. Return false if the page is none of ours.
function adoptProblem(page) {
  const isOurs = adopt(page, "problem");
  const ofCases = document.getElementById("cases-problem");
  ofCases.replaceChildren(...document.querySelectorAll("#problem > [data-of-cases]"));
  return isOurs;
}

// Show and announce the problem, if there is one.
function focusProblem() {
  const problem = ["cases-problem", "problem"].map((id) => document.getElementById(id)).find((each) => each.firstElementChild);
  problem?.focus();
}

// Errors of fields are shown beside them until all fields are valid.
function clearProblems(fields) {
  for (const problem of fields.querySelectorAll(".problem")) problem.remove();
  for (const field of fields.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
}

function tell(message) {
  const notice = document.createElement("p");
  notice.className = "notice fail";
  notice.textContent = message;
  document.getElementById("cases-problem").replaceChildren();
  document.getElementById("problem").replaceChildren(notice);
}

// An immediate redirect to the sign-in page would lose the user's input.
function askToSignIn(address) {
  if (!address) return false;
  tell("Your key is no longer valid. Sign in in another tab, then continue here: ");
  const link = document.createElement("a");
  link.href = address;
  link.target = "_blank";
  link.textContent = "sign in";
  document.querySelector("#problem .notice").append(link);
  return true;
}
