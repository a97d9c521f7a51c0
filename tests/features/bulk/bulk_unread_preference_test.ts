import { assertEquals } from "@std/assert";
import { FrameworkModel, getModel, prop, removeAll, rest, updateAll } from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { asQuery, mount } from "../../support/support.ts";

@rest({
  route: "/things",
  methods: [updateAll({ max: 9, fields: ["name"], atomic: false }), removeAll()],
})
class Thing extends FrameworkModel {
  @prop()
  name?: string;
}

test("a Prefer header in which max-affected cannot be read changes nothing", async () => {
  await using app = await mount([Thing]);
  await getModel(Thing).create({ name: "a" }, { name: "a" });
  const all = `/things${asQuery({})}`;
  for (const prefer of ['x="y, max-affected=1', "x; Max-Affected=1", 'x="y\\", max-affected=1']) {
    const headers = { prefer };
    assertEquals((await app.patch(all, { name: "b" }, { headers })).status, 400, prefer);
    assertEquals((await app.delete(all, { headers })).status, 400, prefer);
  }
  assertEquals(await getModel(Thing).countDocuments({ name: "a" }), 2);
  const headers = { prefer: 'x="y", max-affected=2' };
  assertEquals((await app.patch(all, { name: "b" }, { headers })).status, 200);
});
