import type { Connection } from "mongoose";
import { APP_NAME } from "./open_app.ts";
import type { Journal } from "./journal.ts";

interface StoredDocument {
  readonly _id: unknown;
  readonly __v: number;
  readonly key: string;
  readonly text: string;
  readonly cards?: readonly { readonly key: string; readonly text: string }[];
  readonly people?: readonly unknown[];
}

const COLLECTIONS = ["notes", "guarded", "logs", "boards", "people"];

async function read(connection: Connection, name: string): Promise<StoredDocument[]> {
  const options = { readConcern: "majority" } as const;
  return await connection.collection(name).find({}, options).toArray() as never;
}

/** Every key that is stored, with its text; `again` where an update has happened more than once. */
async function readKeys(connection: Connection): Promise<(readonly [string, string])[]> {
  const found = await Promise.all(COLLECTIONS.map(async (name) => {
    const documents = await read(connection, name);
    return documents.flatMap(({ key, text, __v, cards = [] }) => {
      const isTwice = name !== "boards" && String(__v) !== text;
      const value = isTwice ? `${text} again` : text;
      return [[key, value] as const, ...cards.map((card) => [card.key, card.text] as const)];
    });
  }));
  return found.flat();
}

/** Compares what is stored with what clients were told; gives what does not fit. */
export async function compare(connection: Connection, { possible }: Journal): Promise<string[]> {
  const stored = await readKeys(connection);
  const texts = new Map(stored);
  const seen = new Set<string>();
  const doubled = stored.filter(([key]) => seen.size === seen.add(key).size);
  const wrong = [...possible].filter(([key, texts_]) => !texts_.has(texts.get(key) ?? null));
  return [
    ...doubled.map(([key]) => `${key} is stored twice`),
    ...stored.filter(([key]) => !possible.has(key)).map(([key]) => `${key} is of nobody`),
    ...wrong.map(([key, expected]) =>
      `${key} is ${texts.get(key) ?? "missing"}, not ${[...expected].join(" or ")}`
    ),
  ];
}

/** Finds what is half done: references without entity, entities without reference, groups in part. */
export async function findHalves(
  connection: Connection,
  { together }: Journal,
): Promise<string[]> {
  const [boards, people] = [await read(connection, "boards"), await read(connection, "people")];
  const named = boards.flatMap((board) => board.people ?? []).map(String);
  const there = new Set(people.map(({ _id }) => String(_id)));
  const keys = new Set((await readKeys(connection)).map(([key]) => key));
  const counts = together.map((group) => group.filter((key) => keys.has(key)).length);
  return [
    ...named.filter((id, index) => named.indexOf(id) !== index).map((id) => `${id} named twice`),
    ...named.filter((id) => !there.has(id)).map((id) => `${id} is named, and not there`),
    ...[...there].filter((id) => !named.includes(id)).map((id) => `${id} is there, not named`),
    ...counts.filter((count) => count % 3 !== 0).map((count) => `${count} of 3 were removed`),
  ];
}

/** Counts what the server holds for the application, of all that ends with a request. */
export async function countHeld(connection: Connection, database: string): Promise<number> {
  const pipeline = [
    { $currentOp: { allUsers: true, idleCursors: true, idleSessions: true } },
    { $match: { type: { $in: ["idleCursor", "idleSession"] } } },
    { $match: { $or: [{ type: "idleSession" }, { ns: { $regex: `^${database}\\.` } }] } },
    { $count: "held" },
  ];
  const [counted] = await connection.getClient().db("admin").aggregate(pipeline).toArray();
  return counted?.held ?? 0;
}

/** The connections of the application to the primary, idle ones as well. */
export async function countConnections(connection: Connection): Promise<number> {
  const pipeline = [
    { $currentOp: { allUsers: true, idleConnections: true } },
    { $match: { appName: APP_NAME } },
    { $group: { _id: "$connectionId" } },
  ];
  return (await connection.getClient().db("admin").aggregate(pipeline).toArray()).length;
}
