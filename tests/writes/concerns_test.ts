import { assertEquals } from "@std/assert";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  one,
  prop,
  type Ref,
  remove,
  rest,
  update,
} from "../../mod.ts";
import { pass, watchCommands } from "../support/both_paths.ts";
import { SIX } from "../fixtures/operations.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

class Part extends FrameworkModel {
  @prop()
  text?: string;
}

const preSave = pass;
const HOOKED = [
  all({ postFetch: pass }),
  one({ postFetch: pass }),
  create({ preSave }),
  update({ preSave }),
  remove({ preSave }),
];

@rest({ route: "/plain", methods: SIX })
@rest({ route: "/hooked", methods: HOOKED as never[], scope: () => ({ text: { $ne: "no" } }) })
class Note extends FrameworkModel {
  @prop()
  text?: string;
  @rest({ methods: SIX })
  @arrayProp({ items: Part, embedded: true })
  parts?: Part[];
  @rest({ methods: SIX })
  @arrayProp({ items: Part })
  others?: Ref<Part>[];
}

const WRITES = ["insert", "update", "delete", "findAndModify"];
const READS = ["find", "aggregate"];

test("every command has the write concern and the read concern of the connection", async () => {
  await using app = await mount([Note]);
  const uri = new URL(app.database.uri);
  uri.searchParams.set("w", "majority");
  uri.searchParams.set("readConcernLevel", "majority");
  const sent = await watchCommands(uri.href);
  for (const route of ["/plain", "/hooked"]) {
    const { _id } = await app.created(route, { text: "a" });
    const note = `${route}/${_id}`;
    for (const path of route === "/plain" ? [route, `${note}/parts`, `${note}/others`] : [route]) {
      const made = await app.created(path, { text: "b" });
      await app.read(path);
      await app.updated(`${path}/${made._id}`, { text: "c" });
      assertEquals((await app.delete(`${path}/${made._id}`)).status, 204);
    }
  }
  assertEquals((await app.delete("/plain")).status, 204);
  const names = new Set(sent.map(({ name }) => name));
  assertEquals([...WRITES, ...READS].filter((name) => !names.has(name)), []);
  const lacking = sent.filter(({ name, command: { writeConcern, readConcern } }) => {
    const concern = WRITES.includes(name) ? writeConcern : readConcern;
    return [...WRITES, ...READS].includes(name) &&
      !JSON.stringify(concern ?? {}).includes("majority");
  });
  assertEquals(lacking, []);
});

test("a removal of which the database tells nothing is answered as done", async () => {
  await using app = await mount([Note]);
  const made = [await app.created("/plain", {}), await app.created("/hooked", {})];
  const uri = new URL(app.database.uri);
  uri.searchParams.set("w", "0");
  await watchCommands(uri.href);
  const paths = [`/plain/${made[0]?._id}`, `/hooked/${made[1]?._id}`];
  for (const path of paths) assertEquals((await app.delete(path)).status, 204);
});
