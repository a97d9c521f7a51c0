import process from "node:process";
import mongoose from "mongoose";
import type { Connection, Schema } from "mongoose";
import { arrayProp, FrameworkModel, prop, rest } from "../../../mod.ts";
import type { FrameworkRequest, ModelClass, Ref } from "../../../mod.ts";
import { all, create, one, remove, update, updateAll } from "../../../mod.ts";
import { pass } from "../../support/both_paths.ts";
import { FOUR, SIX } from "../../fixtures/operations.ts";

/** What a client stores: a key of its own, and a text that says how often it was updated. */
class Keyed extends FrameworkModel {
  @prop()
  key!: string;
  @prop()
  text!: string;
}

class Card extends Keyed {}

const collection = (name: string) => ({ schemaOptions: { collection: name } });

class Person extends Keyed {}

/** A root without hooks. */
@rest({ route: "/notes", methods: FOUR, ...collection("notes") })
export class Note extends Keyed {}

/** A root whose writes use documents. */
@rest({
  route: "/guarded",
  methods: [create({ preSend: pass }), update({ preSave: pass }), remove({ preSave: pass })],
  ...collection("guarded"),
})
export class Guarded extends Keyed {}

/** What is removed in groups. */
@rest({ route: "/logs", methods: SIX, ...collection("logs") })
export class Log extends Keyed {
  @prop()
  group?: string;
}

/** How many entities a lot has. */
export const LOT = 500;

const fields = ["text"] as const;

/** What is created and changed in lots. */
@rest({
  route: "/lots",
  methods: [create({ many: LOT }), updateAll({ fields, max: LOT })],
  ...collection("lots"),
})
export class Lot extends Keyed {
  @prop({ required: true })
  lot!: string;
}

/** The same by documents. */
@rest({
  route: "/guarded-lots",
  methods: [
    create({ many: LOT, preSave: pass }),
    updateAll({ fields, max: LOT, preSave: pass }),
  ],
  ...collection("guarded_lots"),
})
export class GuardedLot extends Keyed {
  @prop({ required: true })
  lot!: string;
}

/** A root with embedded parts, and with references. */
@rest({ route: "/boards", methods: [one(), create()], ...collection("boards") })
export class Board extends Keyed {
  @rest({ methods: SIX })
  @arrayProp({ items: Card, embedded: true })
  cards?: Card[];
  @rest({ methods: SIX })
  @arrayProp({ items: Person })
  people?: Ref<Person>[];
}

const die = () => process.kill(process.pid, "SIGKILL");

/** Hooks that end the process where the header of a request says: after the write, or before the answer. */
const DEADLY = {
  preSave<E extends { $locals?: Record<string, unknown> }>(req: FrameworkRequest, entity: E) {
    if (entity.$locals) entity.$locals.dies = req.get("x-dies");
    return entity;
  },
  preSend<E extends object>(req: FrameworkRequest, entity: E) {
    if (req.get("x-dies") === "answer") die();
    return entity;
  },
};

/** What is created with keys, and may end the process when it is stored. */
class Deadly extends Keyed {
  static override configure(schema: Schema): void {
    schema.post("save", (doc) => {
      if (doc.$locals.dies === "write") die();
    });
  }
}

class Item extends Deadly {}

class Buyer extends Deadly {}

const KEYS = { idempotency: { keep: "1h" } } as const;
const ONCE = [one(), create({ ...KEYS, ...DEADLY })];

/** A root that is created with keys, without documents and with them, and whose parts are. */
@rest({ route: "/orders", methods: [one(), create(KEYS)], ...collection("orders") })
@rest({ route: "/deadly", methods: ONCE })
export class Order extends Deadly {
  @rest({ methods: ONCE })
  @arrayProp({ items: Item, embedded: true })
  items?: Item[];
  @rest({ methods: ONCE })
  @arrayProp({ items: Buyer })
  buyers?: Ref<Buyer>[];
}

const PAGE = { page: { size: 100, max: 100 } };

/** A list without hooks, with hooks, with hooks on objects, and in pages. */
@rest({ route: "/shown/direct", methods: [all()], ...collection("shown") })
@rest({ route: "/shown/hooks", methods: [all({ preSend: pass })] })
@rest({ route: "/shown/lean", methods: [all({ preSend: pass, lean: true })] })
@rest({ route: "/shown/pages", methods: [all({ preSend: pass, ...PAGE })] })
export class Shown extends Keyed {}

/** Makes a model of which every tenant has its own connection; the header `x-tenant` names it. */
export function buildVisits(tenants: Readonly<Record<string, string>>): ModelClass {
  const opened = Object.entries(tenants).map(([name, uri]): [string, Connection] => {
    const connection = mongoose.createConnection(uri, { dbName: `faults_${name}` });
    connection.on("error", () => {});
    connection.asPromise().catch(() => {});
    return [name, connection];
  });
  const connections = new Map(opened);
  const getConnection = (req: FrameworkRequest) =>
    connections.get(req.get("x-tenant") ?? "") ?? mongoose.connection;
  @rest({ route: "/visits", methods: [all(), create()], getConnection, ...collection("visits") })
  class Visit extends Keyed {}
  return Visit;
}
