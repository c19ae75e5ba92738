// What the signed-in client may do. Larder refuses what is hidden here.

import type { Session } from "./model";

let acts = false;

export function setRights({ scopes }: Session): void {
  acts = scopes.includes("ops");
}

/** Reports whether the client may change anything. */
export function mayAct(): boolean {
  return acts;
}
