import { assertEquals, assertThrows } from "@std/assert";
import { arrayProp, Framework, FrameworkModel, getModel, prop, rest } from "../../mod.ts";
import { SIX } from "../fixtures/operations.ts";
import { pass } from "../support/both_paths.ts";
import { update } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { mount, NOBODY } from "../support/support.ts";

class Line extends FrameworkModel {
  @prop()
  text?: string;
}

@rest({ route: "/orders", methods: SIX, ifMatch: true })
@rest({
  route: "/scoped",
  methods: SIX,
  ifMatch: true,
  scope: () => ({ text: { $ne: "secret" } }),
})
class Order extends FrameworkModel {
  @prop()
  text?: string;
  @rest({ methods: SIX })
  @arrayProp({ items: Line, embedded: true })
  lines?: Line[];
  @rest({ route: "/strict", methods: SIX, ifMatch: true })
  @arrayProp({ items: Line, embedded: true })
  others?: Line[];
}

test("ifMatch: required answers 428 to an update or a removal without If-Match", async () => {
  await using app = await mount([Order]);
  const { _id, lines, others } = await getModel(Order).create(
    { lines: [{}], others: [{}] } as never,
  ) as unknown as Required<Order>;
  for (const path of [`/orders/${_id}`, `/orders/${_id}/strict/${others[0]?._id}`]) {
    const reply = await app.patch(path, { text: "x" });
    assertEquals([reply.status, reply.body.code], [428, "PRECONDITION_REQUIRED"], path);
    assertEquals((await app.delete(path)).status, 428, path);
    assertEquals((await app.read(path)).text, undefined);
    const any = { headers: { "if-match": "*" } };
    assertEquals((await app.patch(path, { text: "x" }, any)).status, 200, path);
  }
  // It does not bind the parts of an entity
  assertEquals((await app.patch(`/orders/${_id}/lines/${lines[0]?._id}`, {})).status, 200);
  assertEquals((await app.post("/orders", {})).status, 201);
  assertEquals((await app.delete("/orders")).status, 204);
});

test("404 comes before 428", async () => {
  await using app = await mount([Order]);
  const { insertedId } = await getModel(Order).collection.insertOne({ text: "secret" } as never);
  for (const path of [`/scoped/${insertedId}`, `/orders/${NOBODY}`, "/orders/x"]) {
    assertEquals((await app.patch(path, {})).status, 404, path);
    assertEquals((await app.delete(path)).status, 404, path);
  }
});

test("ifMatch: required needs versions that the framework writes", () => {
  const mounted = (options: object, schemaOptions = {}) => () => {
    @rest({ route: "/odd", methods: [update()], ifMatch: true, ...options })
    class Odd extends FrameworkModel {
      static override schemaOptions = { autoIndex: false, autoCreate: false, ...schemaOptions };
    }
    return Framework.describe({ models: [Odd] });
  };
  assertEquals(mounted({})().length, 1);
  assertThrows(mounted({}, { versionKey: false }), TypeError, `"versionKey" is off`);
  assertThrows(mounted({}, { versionKey: "meta.rev" }), TypeError, `"meta.rev" is a path`);
  const methods = [update({ persist: pass })];
  assertThrows(mounted({ methods }), TypeError, `cannot bind the "persist" of update()`);
  assertThrows(mounted({ ifMatch: "on" }), TypeError, `is not a boolean`);
  const renamed = `@rest has no option "concurrency", which is now "ifMatch"`;
  assertThrows(mounted({ concurrency: "required" }), TypeError, renamed);
});
