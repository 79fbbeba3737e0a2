// What htmx does not do by itself. Every page works without this file, and without htmx.
"use strict";

// On a narrow screen the steps are a strip: show the one that this page is.
const step = document.querySelector("nav.steps [aria-current]");
if (step) {
  step.scrollIntoView({ block: "nearest", inline: "center" });
}

// A job that has ended may have changed the page around it: whoever waits for it reloads.
document.addEventListener("htmx:afterSwap", (event) => {
  const reload = event.target.querySelector("[data-reload]");
  if (reload) {
    window.location.reload();
  }
});

// A request that got no answer is not silent.
for (const name of ["htmx:sendError", "htmx:responseError", "htmx:timeout"]) {
  document.addEventListener(name, (event) => {
    const notice = document.getElementById("notice");
    const status = event.detail.xhr ? event.detail.xhr.status : 0;
    if (notice) {
      const { failed, silent, locked } = notice.dataset;
      notice.textContent = !status
        ? silent
        : status === 401
          ? locked
          : failed.replace("{status}", status);
      notice.className = "box alarm";
    }
  });
}

// What is wrong with a field stands beside it, until the form is sent again.
document.addEventListener("htmx:afterSwap", (event) => {
  const said = document.querySelector("#notice [data-field]");
  const form = said && event.detail.requestConfig.elt.closest("form");
  const found = form && form.elements.namedItem(said.dataset.field);
  const field = found instanceof RadioNodeList ? found[0] : found;
  if (field && field.type !== "hidden") {
    (field.closest(".field, label") || field).append(said);
    said.className = "problem";
    said.setAttribute("role", "alert");
    said.id = `wrong-${field.name}`;
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-errormessage", said.id);
    field.focus();
  }
});
document.addEventListener("htmx:beforeRequest", (event) => {
  const form = event.target.closest("form");
  if (form) {
    const notice = document.getElementById("notice");
    notice.replaceChildren();
    notice.className = "";
    form.querySelectorAll("[data-field]").forEach((said) => said.remove());
    form.querySelectorAll("[aria-errormessage]").forEach((field) => {
      field.removeAttribute("aria-invalid");
      field.removeAttribute("aria-errormessage");
    });
  }
});

// Blocks of text that can be copied; without this file they can still be selected.
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (button && navigator.clipboard) {
    const block = document.getElementById(button.dataset.copy);
    navigator.clipboard.writeText(block.textContent).then(() => {
      button.textContent = button.dataset.copied;
    });
  }
});

// How much of a file has been sent.
document.addEventListener("htmx:xhr:progress", (event) => {
  const bar = event.target.querySelector("progress");
  if (bar && event.detail.lengthComputable) {
    bar.hidden = false;
    bar.value = event.detail.loaded / event.detail.total;
  }
});

// One box that selects all boxes of a name.
document.addEventListener("change", (event) => {
  const name = event.target.dataset.selects;
  if (name) {
    for (const box of document.querySelectorAll(`input[type=checkbox][name="${name}"]`)) {
      box.checked = event.target.checked;
    }
  }
});

// A grid of links is one stop of the tab key; arrows move among them, to the nearest that there is.
const enter = (grid) => {
  const links = [...grid.querySelectorAll("a")];
  const first = links.find((link) => link.getAttribute("aria-current")) || links[0];
  links.forEach((link) => (link.tabIndex = link === first ? 0 : -1));
};
document.querySelectorAll("[data-grid]").forEach(enter);
document.addEventListener("keydown", (event) => {
  const moves = { ArrowUp: [1, 0], ArrowDown: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] };
  const move = moves[event.key];
  const here = event.target.closest("[data-grid] a");
  if (!here || !move) {
    return;
  }
  event.preventDefault();
  let nearest = null;
  let least = Infinity;
  for (const link of here.parentElement.querySelectorAll("a")) {
    const up = link.dataset.up - here.dataset.up;
    const across = link.dataset.across - here.dataset.across;
    const along = up * move[0] + across * move[1];
    const aside = Math.abs(up * move[1]) + Math.abs(across * move[0]);
    if (along > 0 && along + 3 * aside < least) {
      [nearest, least] = [link, along + 3 * aside];
    }
  }
  if (nearest) {
    here.tabIndex = -1;
    nearest.tabIndex = 0;
    nearest.focus();
  }
});
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-grid] a");
  if (link) {
    for (const other of link.parentElement.querySelectorAll("[aria-current]")) {
      other.removeAttribute("aria-current");
    }
    link.setAttribute("aria-current", "true");
    enter(link.parentElement);
  }
});
