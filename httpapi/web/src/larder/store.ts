// Storage for basket and order: localStorage; if that is full or forbidden,
// sessionStorage; otherwise the memory of the page.

/** Store is the used part of the interface Storage. A store that throws is treated as missing. */
export type Store = Pick<Storage, "getItem" | "setItem" | "removeItem">;

/** Kept is a Store that never throws and never returns an older value than the last one set. */
export class Kept implements Store {
  private readonly memory = new Map<string, string>();

  /** The places are tried in this order. */
  constructor(private readonly places: readonly Store[]) {}

  /** A value in a later place was refused by the earlier places, so it is newer. */
  getItem(name: string): string | null {
    const kept = [...this.places].reverse().map((place) => quietly(() => place.getItem(name)) ?? null);
    return this.memory.get(name) ?? kept.find((value) => value !== null) ?? null;
  }

  setItem(name: string, value: string): void {
    let taken = false;
    for (const place of this.places) {
      const put: boolean | undefined = !taken && quietly(() => (place.setItem(name, value), true));
      if (!put) quietly(() => place.removeItem(name)); // its value is older
      taken ||= put === true;
    }
    if (taken) this.memory.delete(name);
    else this.memory.set(name, value);
  }

  removeItem(name: string): void {
    this.memory.delete(name);
    for (const place of this.places) quietly(() => place.removeItem(name));
  }

  /** lasts reports whether the value of a name survives a reload. */
  lasts(name: string): boolean { return !this.memory.has(name); }
}

/** storages returns the storages that the page may use. */
export function storages(): Store[] {
  return [quietly(() => window.localStorage), quietly(() => window.sessionStorage)].filter((s) => s !== undefined && s !== null);
}

/** quietly returns the result of work, or undefined if it throws: storage can be full or forbidden. */
export function quietly<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
