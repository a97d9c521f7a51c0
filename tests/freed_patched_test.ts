import { assert } from "@std/assert";
import { ServerResponse } from "node:http";
import { test } from "./harness/testing.ts";

const held: Uint8Array[] = [];

// As tools that watch a process do, before it loads anything else
const { write } = ServerResponse.prototype as { write: (...args: unknown[]) => boolean };
Reflect.set(ServerResponse.prototype, "write", function (this: unknown, ...args: unknown[]) {
  held.push(args[0] as Uint8Array);
  return Reflect.apply(write, this, args);
});

const { mount } = await import("./support.ts");
const { all, FrameworkModel, prop, rest } = await import("../mod.ts");

@rest({ route: "/rows", methods: [all()], schemaOptions: { collection: "rows" } })
class Row extends FrameworkModel {
  @prop()
  text?: string;
}

test("what writes in the place of all responses, from the start, may hold what it was given", async () => {
  await using app = await mount([Row]);
  const rows = Array.from({ length: 2500 }, () => ({ text: "x".repeat(1000) }));
  await app.database.connection.collection("rows").insertMany(rows);
  const { length } = await (await fetch(`${app.url}/rows`)).text();
  const kept = held.reduce((sum, { byteLength }) => sum + byteLength, 0);
  // What ends the answer is not written
  assert(kept > length / 2, `${kept} bytes of ${length} are left`);
});
