import { Buffer } from "node:buffer";
import { assertEquals } from "@std/assert";
import type { Schema } from "mongoose";
import { all, arrayProp, FrameworkModel, getModel, one, prop, rest } from "../mod.ts";
import { pass } from "./both_paths.ts";
import { test } from "./harness/testing.ts";
import { readPages } from "./links.ts";
import { bsonOf, insertRaw } from "./made/raw_bson.ts";
import { type EntityBody, mount } from "./support.ts";

const LISTED = { page: { size: 1, max: 50 }, sort: ["at"] } as const;

@rest({ route: "/plain", methods: [all(LISTED)] })
@rest({ route: "/hooked", methods: [all({ ...LISTED, postFetch: pass })] })
@rest({ route: "/lean", methods: [all({ ...LISTED, postFetch: pass, lean: true })] })
class Dated extends FrameworkModel {
  @prop({ type: Date })
  at?: Date;
  static override configure(schema: Schema): void {
    schema.index({ at: 1, _id: 1 });
  }
}

@rest({ route: "/parents", methods: [one()] })
class Parent extends FrameworkModel {
  @rest({ methods: [all(LISTED)] })
  @arrayProp({ items: Dated, embedded: true })
  parts?: Dated[];
}

/** The last date and the first one of other languages, others that JavaScript does not have, and usual ones. */
const [LAST, FIRST] = [2n ** 63n - 1n, -(2n ** 63n)];
const TIMES = [-5n, LAST, 3n, LAST, 2n ** 53n, LAST, FIRST, FIRST, 0n, -(2n ** 53n)];

const DOCUMENTS = TIMES.map((time, n) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(time);
  const id = Buffer.from(String(n).padStart(24, "0"), "hex");
  return bsonOf([[0x07, "_id", id], [0x09, "at", bytes]]);
});

/** Serves the same entities as a list of their own, and as parts of a parent. */
async function open() {
  const app = await mount([Dated, Parent]);
  const model = getModel(Dated);
  await model.ensureIndexes();
  const put = (collection: string, documents: readonly Buffer[]) =>
    insertRaw(app.database.uri, { collection, documents });
  await put(model.collection.collectionName, DOCUMENTS);
  const parts = bsonOf(DOCUMENTS.map((each, n) => [0x03, String(n), each]));
  const _id = Buffer.alloc(12);
  await put(getModel(Parent).collection.collectionName, [
    bsonOf([[0x07, "_id", _id], [0x04, "parts", parts]]),
  ]);
  return Object.assign(app, { collection: model.collection, parent: _id.toString("hex") });
}

const ORDERS = [{ at: 1, _id: 1 }, { at: -1, _id: 1 }, { at: -1, _id: -1 }] as const;

test("pages continue behind dates that JavaScript cannot hold", async () => {
  await using app = await open();
  for (const at of ["/plain", "/hooked", "/lean", `/parents/${app.parent}/parts`]) {
    for (const order of ORDERS) {
      const keys = Object.entries(order).map(([key, sign]) => sign === 1 ? key : `-${key}`);
      const pages = await readPages(app, `${at}?sort=${keys}`);
      const shown = pages.flatMap(({ body }) => (body as EntityBody[]).map(({ _id }) => _id));
      const expected = await app.collection.find({}, { projection: { _id: 1 } }).sort(order)
        .toArray();
      assertEquals([at, shown], [at, expected.map(({ _id }) => String(_id))]);
    }
  }
});
