// Accessibility fixes for Swagger UI: screen readers and keyboards.
"use strict";

// The path of an operation is part of the button that opens it, and a link inside
// a button is not accessible. The address follows the open operation anyway.
const plainPaths = ({ React }) => ({
  wrapComponents: {
    DeepLink: () => ({ text }) => React.createElement("span", { className: "nostyle" }, text),
  },
});

// readable adds missing labels, makes long blocks scrollable with the keyboard and
// corrects the levels of headings, whenever the page changes.
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

// operation returns the method and path of the operation that contains an element.
const operation = (element) => element.closest(".opblock").querySelector(".opblock-summary-control").textContent;
