/* What the theme leaves out for those who read with a keyboard or a screen reader. */
function amend() {
  // The copy buttons of a block are not a place to navigate to.
  for (const nav of document.querySelectorAll("nav.md-code__nav:not([role])")) {
    nav.setAttribute("role", "none")
  }
  // Two landmarks of one name cannot be told apart.
  const sidebar = document.querySelector("nav.md-nav--primary")
  if (sidebar) sidebar.setAttribute("aria-label", "Pages of this section")
  // Nor is a part of the list of headings a place of its own; headings may have the same text.
  for (const nav of document.querySelectorAll(".md-nav--secondary nav.md-nav:not([role])")) {
    nav.removeAttribute("aria-label")
    nav.setAttribute("role", "none")
  }
  // What scrolls sideways can be reached by keyboard.
  for (const wide of document.querySelectorAll(".md-typeset__scrollwrap")) {
    if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0
  }
}
amend()
new MutationObserver(amend).observe(document.body, { childList: true, subtree: true })
addEventListener("resize", amend)
