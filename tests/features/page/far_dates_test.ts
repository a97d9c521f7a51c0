import { Buffer } from "node:buffer";
import { assertEquals } from "@std/assert";
import { all, FrameworkModel, getModel, prop, rest } from "../../../mod.ts";
import { pass } from "../../support/both_paths.ts";
import { test } from "../../harness/testing.ts";
import { linksOf } from "./links.ts";
import { bsonOf, insertRaw } from "../../support/made/raw_bson.ts";
import { mount } from "../../support/support.ts";

const LISTED = { page: { size: 1, max: 50 }, sort: ["at"] } as const;

@rest({ route: "/plain", methods: [all(LISTED)] })
@rest({ route: "/hooked", methods: [all({ ...LISTED, postFetch: pass })] })
class Dated extends FrameworkModel {
  @prop({ type: Date })
  at?: Date;
}

/** Dates of other languages, which JavaScript does not have. */
const DOCUMENTS = [2n ** 63n - 1n, 2n ** 62n].map((time, n) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(time);
  const id = Buffer.from(String(n).padStart(24, "0"), "hex");
  return bsonOf([[0x07, "_id", id], [0x09, "at", bytes]]);
});

test("behind a date that JavaScript cannot hold, after is 400: no page repeats", async () => {
  await using app = await mount([Dated]);
  const { collectionName: collection } = getModel(Dated).collection;
  await insertRaw(app.database.uri, { collection, documents: DOCUMENTS });
  for (const list of ["/plain", "/hooked"]) {
    const first = await app.get(`${list}?sort=at`);
    assertEquals([list, first.status], [list, 200]);
    const { status, body } = await app.get<{ parameter: string }>(linksOf(first).next ?? "");
    assertEquals([list, status, body.parameter], [list, 400, "after"]);
  }
});
