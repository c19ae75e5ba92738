// Confirmation dialogs, and messages about what happened.

import { h, put, type Child } from "./dom";
import { isGone, errorText } from "./api";

const region = h("p", { role: "status", class: "said", "data-testid": "said" });

/** Shows what happened. Screen readers read it aloud. */
export const messageRegion = region;

export function showMessage(text: string, bad = false): void {
  region.classList.toggle("bad", bad);
  put(region, text);
}

/** Shows why something failed, unless its view was closed. */
export function showError(error: unknown): void {
  if (!isGone(error)) showMessage(errorText(error), true);
}

interface Question {
  title: string;
  body: Child[];
  yes: string;
  danger?: boolean;
  fields?: HTMLElement;
}

/** Opens a confirmation dialog. Resolves to true if confirmed; the Escape key cancels. */
export async function question({ title, body, yes, danger = false, fields }: Question): Promise<boolean> {
  const button = h("button", { type: "submit", value: "yes", class: danger ? "danger" : "main" }, yes);
  return (await choose({ title, body: [...body, fields ?? false], button })) === "yes";
}

/**
 * Opens a dialog. Resolves to the value of the submit button that closed it: one in the body, or the last one. Cancel and the
 * Escape key give "no".
 */
export function choose({ title, body, button }: { title: string; body: Child[]; button?: Child }): Promise<string> {
  return new Promise((resolve) => {
    const before = document.activeElement;
    const heading = h("h2", { id: "question" }, title);
    const dialog = h(
      "dialog",
      { "aria-labelledby": "question" },
      h(
        "form",
        { method: "dialog" },
        heading,
        ...body,
        h(
          "p",
          { class: "buttons" },
          h("button", { type: "submit", value: "no", class: "quiet", autofocus: true, formnovalidate: true }, "Cancel"),
          button,
        ),
      ),
    );
    dialog.addEventListener(
      "close",
      () => {
        dialog.remove();
        if (before instanceof HTMLElement && before.isConnected) before.focus();
        resolve(dialog.returnValue || "no");
      },
      { once: true },
    );
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Runs the action of a button, one at a time, and shows why it failed. */
export async function during(button: HTMLButtonElement, work: () => Promise<void>): Promise<void> {
  if (button.getAttribute("aria-busy") === "true") return;
  button.setAttribute("aria-busy", "true");
  try {
    await work();
  } catch (error) {
    showError(error);
  } finally {
    button.removeAttribute("aria-busy");
  }
}
