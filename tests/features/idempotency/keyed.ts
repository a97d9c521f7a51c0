import { assertEquals } from "@std/assert";
import type { Connection } from "mongoose";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  one,
  prop,
  remove,
  rest,
  update,
} from "../../../mod.ts";
import type { Ref } from "../../../mod.ts";
import { pass } from "../../support/both_paths.ts";
import type { Client, EntityBody } from "../../support/client.ts";

/** How the models keep keys. */
export const IDEMPOTENCY = { keep: "24h" } as const;

const methods = [create({ idempotency: IDEMPOTENCY }), one(), update(), remove(), all()];

/** What clients create with keys. */
class Keyed extends FrameworkModel {
  /** A text. */
  @prop({ required: true })
  text!: string;
  /** A value that no other entity of the collection has. */
  @prop({ unique: true, sparse: true })
  code?: string;
}

/** An element. */
class Card extends Keyed {}

/** An entity that a parent refers to. */
class Person extends Keyed {}

/** A root that is written without documents, and by another route with them. */
@rest({ route: "/notes", methods })
@rest({
  route: "/hooked",
  methods: [create({ idempotency: IDEMPOTENCY, preSave: pass }), one(), remove()],
})
export class Note extends Keyed {}

/** A root with parts of every kind. */
@rest({ route: "/boards", methods })
export class Board extends Keyed {
  /** Elements. */
  @rest({ methods })
  @arrayProp({ items: Card, embedded: true })
  cards?: Card[];
  /** References. */
  @rest({ methods })
  @arrayProp({ items: Person })
  people?: Ref<Person>[];
  /** One element. */
  @rest({ methods: [create({ idempotency: IDEMPOTENCY }), one(), remove()] })
  @prop({ type: Card })
  card?: Card;
  /** One reference. */
  @rest({ methods: [create({ idempotency: IDEMPOTENCY }), one(), remove()] })
  @prop({ ref: Person })
  person?: Ref<Person>;
}

/** The headers that bring a key. */
export function keyed(key: string, others = {}): { headers: Record<string, string> } {
  return { headers: { "idempotency-key": key, ...others } };
}

/** The lists that take keys: the paths to them. */
export async function listsOf(app: Client): Promise<string[]> {
  const { _id } = await app.created("/boards", { text: "board" });
  return ["/notes", "/hooked", `/boards/${_id}/cards`, `/boards/${_id}/people`];
}

/** The texts of the entities at a path, sorted. */
export async function textsAt(app: Client, path: string): Promise<string[]> {
  const list = await app.read<EntityBody[]>(path === "/hooked" ? "/notes" : path);
  return list.map(({ text }) => String(text)).sort();
}

/** Makes the requests with keys that are under way begin so many seconds earlier. */
export async function age({ connection }: { connection: Connection }, seconds = 31): Promise<void> {
  const at = { $subtract: ["$at", seconds * 1000] };
  const { matchedCount } = await connection.collection("mongrove_keys")
    .updateMany({}, [{ $set: { at } }] as never);
  assertEquals(matchedCount > 0, true);
}
