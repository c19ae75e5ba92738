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
export function question({ title, body, yes, danger = false, fields }: Question): Promise<boolean> {
  const cancel = h("button", { type: "submit", value: "no", class: "quiet", autofocus: true }, "Cancel");
  const button = h("button", { type: "submit", value: "yes", class: danger ? "danger" : "main" }, yes);
  return new Promise((resolve) => {
    const content: Child[] = [
      h("h2", {}, title),
      ...body,
      fields ?? false,
      h("p", { class: "buttons" }, cancel, button),
    ];
    const dialog = open(h("form", { method: "dialog" }, content), title, () => resolve(dialog.returnValue === "yes"));
  });
}

/** What the button of a form does. */
export interface Effect {
  button: string;
  /** What guests notice, or what is missing. */
  text: string;
  /** Something that the operator may not expect. */
  surprise?: boolean;
  /** Not yet possible. */
  missing?: boolean;
}

interface Form {
  title: string;
  body: Child[];
  effect: () => Effect;
  send: () => Promise<void>;
}

const refresh = 5000; // between two descriptions of the effect, in milliseconds: it depends on the time

/**
 * Opens a dialog with fields. It shows the effect of its button, again after each change. The button calls send; if that fails,
 * the dialog shows why and stays open. Resolves when the dialog is closed.
 */
export function fillIn({ title, body, effect, send }: Form): Promise<void> {
  const says = h("p", { class: "effect", role: "status" });
  const fault = h("p", { class: "fault", role: "alert" });
  const button = h("button", { type: "submit", class: "main" });
  const cancel = h("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, "Cancel");
  const content = [
    h("h2", { tabindex: -1, autofocus: true }, title),
    ...body,
    h("div", { class: "confirm" }, says, fault, h("p", { class: "buttons" }, cancel, button)),
  ];
  const describe = () => {
    const now = effect();
    if (says.textContent !== now.text) put(says, now.text);
    says.classList.toggle("note", now.surprise === true);
    put(button, now.button);
    button.disabled = now.missing === true;
  };
  const submit = (event: Event) => {
    event.preventDefault();
    put(fault);
    void during(button, async () => {
      try {
        await send();
        dialog.close();
      } catch (error) {
        if (isGone(error)) dialog.close();
        else put(fault, errorText(error));
      }
    });
  };
  const form = h("form", { novalidate: true, onsubmit: submit, oninput: describe }, content);
  describe();
  const timer = setInterval(describe, refresh);
  let dialog: HTMLDialogElement;
  return new Promise((resolve) => {
    dialog = open(form, title, () => {
      clearInterval(timer);
      resolve();
    });
  });
}

/** Opens a modal dialog, and puts the focus back when it is closed. */
function open(form: HTMLFormElement, title: string, closed: () => void): HTMLDialogElement {
  const before = document.activeElement;
  const dialog = h("dialog", { "aria-label": title }, form);
  dialog.addEventListener(
    "close",
    () => {
      dialog.remove();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
      closed();
    },
    { once: true },
  );
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
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
