import { clearTimeout, setTimeout } from "node:timers";

/** How long a list that nobody reads is remembered. */
const KEPT_MS = 60_000;

/** The most entities of lists that nobody reads. */
const MAX_KEPT = 100_000;

interface Kept {
  readonly size: number;
  readonly timer: ReturnType<typeof setTimeout>;
}

/** The lists that several requests may read, by their keys. A client that comes back soon continues from what it had. */
export class SharedLists<L> {
  readonly #lists = new Map<string, L>();
  readonly #kept = new Map<string, Kept>();
  #keptSize = 0;

  get(key: string, make: () => L): L {
    const list = this.#lists.get(key) ?? make();
    this.#lists.set(key, list);
    this.#endKeeping(key);
    return list;
  }

  /** Remembers a list of so many entities that nobody reads any more, if there is room. */
  keep(key: string, { list, size }: { readonly list: L; readonly size: number }): void {
    if (this.#lists.get(key) !== list) return;
    this.#endKeeping(key);
    const forget = () => {
      this.#lists.delete(key);
      this.#endKeeping(key);
    };
    if (this.#keptSize + size > MAX_KEPT) return forget();
    this.#keptSize += size;
    this.#kept.set(key, { size, timer: setTimeout(forget, KEPT_MS).unref() });
  }

  #endKeeping(key: string): void {
    const { size = 0, timer } = this.#kept.get(key) ?? {};
    clearTimeout(timer);
    this.#keptSize -= size;
    this.#kept.delete(key);
  }
}
