// Signing in with a client that has the scope ops.

import { ResponseError, result, errorText } from "./api";
import { during } from "./ask";
import { h, put } from "./dom";
import type { Session } from "./model";

/** Draws the form and calls then with the new session. */
export function signIn(root: HTMLElement, why: string, then: (session: Session) => void): void {
  document.title = "Sign in · Larder operations";
  const client = h("input", {
    name: "client",
    autocomplete: "username",
    required: true,
    autocapitalize: "off",
    spellcheck: "false",
  });
  const secret = h("input", { name: "secret", type: "password", autocomplete: "current-password", required: true });
  const fault = h("p", { role: "alert", class: "fault", "data-testid": "fault" }, why);
  const submit = h("button", { type: "submit", class: "main" }, "Sign in");
  put(
    root,
    h(
      "main",
      { class: "signin" },
      h("h1", { tabindex: -1 }, "Larder operations"),
      h(
        "form",
        {
          onsubmit: (event: Event) => {
            event.preventDefault();
            void during(submit, async () => {
              try {
                then(
                  await result<Session>("/ops/session", {
                    method: "POST",
                    body: { client: client.value.trim(), secret: secret.value },
                  }),
                );
              } catch (error) {
                const wait =
                  error instanceof ResponseError && error.retryAfter > 0 ? ` Try again in ${error.retryAfter} s.` : "";
                put(fault, errorText(error) + wait);
                secret.value = "";
                secret.focus();
              }
            });
          },
        },
        h("label", {}, "Client ID", client),
        h("label", {}, "Secret", secret),
        fault,
        h("p", {}, submit),
      ),
      h("p", { class: "quiet" }, "Use a client ID and secret with operator access (scope ops in auth.clients)."),
    ),
  );
  client.focus();
}
