// What Swagger UI leaves out for those who hear the page or use no mouse.
"use strict";

// The path of an operation stands on the button that opens it: a link in it
// cannot be reached by everybody. The address follows what is open without it.
const plainPaths = ({ React }) => ({
  wrapComponents: {
    DeepLink: () => ({ text }) => React.createElement("span", { className: "nostyle" }, text),
  },
});

// readable names what has no name, lets the keyboard scroll what is long, and
// puts headings one below the other, as soon as something is shown.
function readable(root) {
  const mend = () => {
    for (const [chosen, attribute, value] of missing) {
      for (const element of root.querySelectorAll(`${chosen}:not([${attribute}])`)) {
        element.setAttribute(attribute, typeof value === "string" ? value : value(element));
      }
    }
  };
  new MutationObserver(mend).observe(root, { childList: true, subtree: true });
}

const missing = [
  [".information-container", "role", "region"],
  [".information-container", "aria-label", "About this document"],
  [".scheme-container", "role", "region"],
  [".scheme-container", "aria-label", "Server and credentials"],
  ["#servers", "aria-label", "Server"],
  ["select.examples-select-element", "aria-label", "Example"],
  ["select.content-type", "aria-label", "Media type"],
  ["select", "aria-label", "Value"],
  ["table.responses-table", "aria-label", (table) => `Responses of ${operation(table)}`],
  ["pre.microlight", "tabindex", "0"],
  ["h3", "aria-level", "2"],
  ["h4", "aria-level", "3"],
  ["h5", "aria-level", "4"],
];

// operation is the method and path that something stands under.
const operation = (element) => element.closest(".opblock").querySelector(".opblock-summary-control").textContent;
