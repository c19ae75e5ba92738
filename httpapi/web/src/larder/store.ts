// Storage for basket and order: localStorage; if that is full or forbidden,
// sessionStorage; otherwise the memory of the page.

/** Store is the used part of the interface Storage. A store that throws is treated as missing. */
export type Store = Pick<Storage, "getItem" | "setItem" | "removeItem">;

/** FallbackStore is a Store that never throws and never returns an older value than the last one set. */
export class FallbackStore implements Store {
  private readonly memory = new Map<string, string>();

  /** The places are tried in this order. */
  constructor(private readonly places: readonly Store[]) {}

  /** A value in a later place was refused by the earlier places, which keep an older value. So the later one is newer. */
  getItem(name: string): string | null {
    const kept = [...this.places].reverse().map((place) => orUndefined(() => place.getItem(name)) ?? null);
    return this.memory.get(name) ?? kept.find((value) => value !== null) ?? null;
  }

  setItem(name: string, value: string): void {
    let taken = false;
    for (const place of this.places) {
      if (taken)
        orUndefined(() => place.removeItem(name)); // its value is older
      else taken = orUndefined(() => (place.setItem(name, value), true)) === true;
    }
    if (taken) this.memory.delete(name);
    else this.memory.set(name, value);
  }

  removeItem(name: string): void {
    this.memory.delete(name);
    for (const place of this.places) orUndefined(() => place.removeItem(name));
  }

  /** survivesReload reports whether the value of a name survives a reload. */
  survivesReload(name: string): boolean {
    return !this.memory.has(name);
  }
}

/** storages returns the storages that the page may use. */
export function storages(): Store[] {
  return [orUndefined(() => window.localStorage), orUndefined(() => window.sessionStorage)].filter(
    (s) => s !== undefined && s !== null,
  );
}

/** orUndefined returns the result of work, or undefined if it throws: storage can be full or forbidden. */
export function orUndefined<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
