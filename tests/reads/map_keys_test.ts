import { assertEquals } from "@std/assert";
import { all, create, FrameworkModel, getModel, one, prop, rest, update } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { type EntityBody, mount } from "../support/support.ts";

const pass = { postFetch: (_req: unknown, entity: object) => entity };

@rest({ route: "/plain", methods: [all(), one(), create(), update()] })
@rest({ route: "/hooked", methods: [all(pass), one(pass), create(pass), update(pass)] })
class Glossary extends FrameworkModel {
  @prop({ type: Map, of: String })
  words?: Map<string, string>;
}

const RAW = '{"words":{"__proto__":"a","constructor":"b","prototype":"c","x":"d"}}';

test("keys such as constructor vanish from the Map of a body, and a stored Map with one is not shown", async () => {
  await using app = await mount([Glossary]);
  const options = { raw: RAW, headers: { "content-type": "application/json" } };
  for (const route of ["/plain", "/hooked"]) {
    const made = await app.send<EntityBody>("POST", route, options);
    const path = `${route}/${made.body._id}`;
    const changed = await app.send<EntityBody>("PATCH", path, options);
    assertEquals([made.body.words, changed.body.words], [{ x: "d" }, { x: "d" }]);
    const { collection } = getModel(Glossary);
    for (const key of ["__proto__", "constructor", "prototype"]) {
      const words = { $literal: { x: "d", [key]: "a" } };
      await collection.updateOne({}, [{ $set: { words } }]);
      assertEquals((await app.read(path)).words, undefined);
      assertEquals((await app.read<EntityBody[]>(route))[0]?.words, undefined);
    }
    await collection.deleteMany({});
  }
});
