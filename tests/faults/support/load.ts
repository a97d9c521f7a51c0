import { assert } from "@std/assert";
import type { Client } from "../../support/client.ts";
import { asQuery } from "../../support/support.ts";
import { Journal } from "./journal.ts";

/** What a client does again and again. */
type Script = (journal: Journal) => Promise<void>;

/** A key that no other entity has. */
const newKey = () => crypto.randomUUID();

/** Stores an entity with a key; gives the path to it. */
async function make(journal: Journal, { at, key = newKey(), fields = {} }: {
  readonly at: string;
  readonly key?: string;
  readonly fields?: object;
}): Promise<string | undefined> {
  const body = { key, text: "0", ...fields };
  const write = { method: "POST", path: at, body, keys: [key], from: null, to: "0" } as const;
  const made = await journal.write(write);
  return made && `${at}/${made.body._id}`;
}

/** Creates an entity and updates it, then creates another one and removes it. */
function single(at: string): Script {
  return async (journal) => {
    const [kept, gone] = [newKey(), newKey()];
    const path = await make(journal, { at, key: kept });
    const body = { text: "1" };
    if (path) {
      await journal.write({ method: "PATCH", path, body, keys: [kept], from: "0", to: "1" });
    }
    const other = await make(journal, { at, key: gone });
    if (!other) return;
    await journal.write({ method: "DELETE", path: other, keys: [gone], from: "0", to: null });
  };
}

/** Creates three entities at a place, and removes them by one request. */
async function removeThree(journal: Journal, { at, group, query = "" }: {
  readonly at: string;
  readonly group?: string;
  readonly query?: string;
}): Promise<string[] | undefined> {
  const keys = [newKey(), newKey(), newKey()];
  for (const key of keys) {
    if (!await make(journal, { at, key, ...group && { fields: { group } } })) return;
  }
  const path = at + query;
  await journal.write({ method: "DELETE", path, keys, from: "0", to: null });
  return keys;
}

/** Removes roots in groups. */
const bulkOfRoots: Script = async (journal) => {
  const group = newKey();
  await removeThree(journal, { at: "/logs", group, query: asQuery({ group }) });
};

/** Removes all parts of a new board: all of them or none. */
function bulkOfParts(part: string): Script {
  return async (journal) => {
    const board = await make(journal, { at: "/boards" });
    const keys = board && await removeThree(journal, { at: `${board}/${part}` });
    if (keys) journal.together.push(keys);
  };
}

/** Clients that send requests until they are told to stop. */
export interface Load {
  readonly journal: Journal;
  /** Resolves when every request is answered. */
  stop(): Promise<void>;
}

/** Starts clients; each works on one kind of entity, several of them below the same boards. */
export async function startLoad(api: Client, clients: number): Promise<Load> {
  const journal = new Journal(api);
  const board = await make(journal, { at: "/boards" });
  assert(board, "the application stores nothing");
  const scripts = [
    ...[single("/notes"), single("/guarded"), bulkOfRoots],
    ...[single(`${board}/cards`), bulkOfParts("cards")],
    ...[single(`${board}/people`), bulkOfParts("people")],
  ];
  let stopped = false;
  const running = Array.from({ length: clients }, async (_, index) => {
    while (!stopped) await scripts[index % scripts.length]?.(journal);
  });
  return {
    journal,
    async stop() {
      stopped = true;
      await Promise.all(running);
    },
  };
}
