import mongoose from "mongoose";
import { COLLECTIONS, type Hiding, type Twins } from "./twins.ts";
import type { Random } from "./random.ts";

/** The tenant of all requests that are compared, and another. */
export const [ACME, BELL] = ["acme", "bell"];

/** An entity that the seed has stored. A further entity is one of the first twin. */
export interface Seeded {
  readonly id: string;
  readonly isFurther: boolean;
}

/** The values from which requests are made. */
export interface Pool {
  readonly items: Seeded[];
  readonly holders: Seeded[];
  /** The identifiers of embedded objects. */
  readonly parts: string[];
  /** The links of earlier answers. */
  readonly links: string[];
  readonly further: ReadonlySet<string>;
}

export const CODES = [..."abcdefghijklmnop"];
export const GENRES = ["novel", "poem", "Novel"];

/** Stores entities in both twins, and removes the further entities from the second. */
export async function seed(twins: Twins, random: Random, hiding: Hiding): Promise<Pool> {
  for (const { db } of twins.all) {
    const names = (await db.listCollections()).map(({ name }) => name);
    await Promise.all(names.map((name) => db.collection(name).deleteMany({})));
  }
  const items = [];
  for (let index = 0; index < 14; index++) {
    items.push(await seedOne(twins, random, { hiding, index }));
  }
  const holders = [];
  for (let index = 0; index < 7; index++) {
    holders.push(await seedOne(twins, random, { hiding, index, route: "holders" }));
  }
  const all = [...items, ...holders];
  const further = new Set(all.filter(({ isFurther }) => isFurther).map(({ id }) => id));
  const parts = await linkAll(twins, random, { items, holders });
  for (const { route, id, owner } of all.filter(({ isTrashed }) => isTrashed)) {
    const path = `/${route === "items" ? random.one(["items", "hooked"]) : route}/${id}`;
    const headers = { "x-owner": owner, "x-user": "ann" };
    const [{ status }] = await twins.send({ method: "DELETE", path, headers });
    if (status !== 204) throw new Error(`Cannot seed: ${path} answers ${status}`);
  }
  const { db } = twins.second;
  for (const name of COLLECTIONS) {
    const ids = [...further].map((id) => new mongoose.Types.ObjectId(id));
    const named = name.endsWith("_history") ? { entity: { $in: ids } } : { _id: { $in: ids } };
    await db.collection(name).deleteMany(named);
  }
  const keys = (await db.listCollections()).filter(({ name }) => /key|idempot/i.test(name));
  for (const { name } of keys) await db.collection(name).deleteMany({});
  return { items, holders, parts, links: [], further };
}

interface Place {
  readonly hiding: Hiding;
  readonly index: number;
  readonly route?: "items" | "holders";
}

async function seedOne(twins: Twins, random: Random, { hiding, index, route = "items" }: Place) {
  const isFurther = random.chance(0.4);
  const isForeign = isFurther && (hiding === "tenants" || hiding === "both" && random.chance(0.6));
  const isTrashed = isFurther && hiding !== "tenants" && (!isForeign || random.chance(0.3));
  const owner = isForeign ? BELL : ACME;
  const notes = [{ text: random.one(CODES) }, { text: "n" }].slice(random.below(3));
  const body = route === "holders" ? { name: random.one(CODES), slots: notes } : {
    name: `${random.one(CODES)} ${random.one(GENRES)}`,
    // Entities of two tenants may have equal codes.
    code: CODES[isForeign ? index % 4 : index],
    ...random.chance(0.5) && { isbn: `isbn ${isForeign ? index % 4 : index}` },
    ...random.chance(0.8) && { genre: random.one(GENRES) },
    ...random.chance(0.8) && { pages: random.below(5) },
    notes,
    ...random.chance(0.6) && { cover: { text: "cover" } },
  };
  const headers = {
    "x-owner": owner,
    "x-user": "ann",
    ...isForeign && route === "items" && { "idempotency-key": `key-${index % 4}` },
  };
  const [{ status, body: made, text }] = await twins.send({
    method: "POST",
    path: `/${route}`,
    body,
    headers,
  });
  if (status !== 201 && !headers["idempotency-key"]) throw new Error(`Cannot seed: ${text}`);
  if (status !== 201) return await seedOne(twins, random, { hiding, index, route });
  return { id: String(Object(made)._id), isFurther, isTrashed, route, owner };
}

/** Lets entities refer to each other without a check, so that some references lead to hidden entities. */
async function linkAll(
  twins: Twins,
  random: Random,
  { items, holders }: Pick<Pool, "items" | "holders">,
): Promise<string[]> {
  const parts: string[] = [];
  const ids = items.map(({ id }) => new mongoose.Types.ObjectId(id));
  const stored = await twins.first.db.collection("items").find().toArray();
  const held = await twins.first.db.collection("holders").find().toArray();
  const link = async (name: string, doc: Record<string, unknown>) => {
    const lists = ["notes", "slots"].filter((list) => Array.isArray(doc[list]));
    const about = (part: object) => ({
      ...part,
      ...random.chance(0.6) && { about: random.one(ids) },
    });
    const values = {
      ...Object.fromEntries(lists.map((list) => [list, (doc[list] as object[]).map(about)])),
      ...name === "items" && random.chance(0.7) && { sequel: random.one(ids) },
      ...name === "items" && { related: random.some(ids, 0.2) },
      ...name === "holders" && { items: random.some(ids, 0.3), best: random.one(ids) },
    };
    parts.push(
      ...lists.flatMap((list) => (doc[list] as { _id: unknown }[]).map(({ _id }) => String(_id))),
    );
    for (const { db } of twins.all) {
      await db.collection(name).updateOne({ _id: doc._id as never }, { $set: values });
    }
  };
  for (const doc of stored) await link("items", doc);
  for (const doc of held) await link("holders", doc);
  return [...parts, ...holders.slice(0, 1).map(({ id }) => id)];
}
