import { assertEquals } from "@std/assert";
import { z } from "zod";
import { action, FrameworkModel, getModel, prop, rest } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { type ErrorBody, mount } from "../support/support.ts";

const Order = z.object({ lines: z.array(z.object({ no: z.any() })) });

const options = { body: Order, answer: Order } as const;

@rest({
  route: "/counted",
  methods: [
    action("count", { on: "one", ...options, run: (_req, _entity, body) => body }),
    action("countAll", { on: "all", ...options, run: (_req, _query, body) => body }),
  ],
})
class Counted extends FrameworkModel {
  @prop()
  name?: string;
}

test("a number that JavaScript rounds is refused in the body of an action with a schema", async () => {
  await using app = await mount([Counted]);
  const { insertedId } = await getModel(Counted).collection.insertOne({});
  const send = async (path: string, number: string) => {
    const reply = await fetch(new URL(path, app.url), {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: `{"lines":[{"no":1},{"no":${number}}]}`,
    });
    return { status: reply.status, body: await reply.json() as ErrorBody };
  };
  for (const path of [`/counted/${insertedId}/count`, "/counted/countAll"]) {
    for (const number of ["9007199254740993", "-9007199254740993", "1e400"]) {
      const { status, body } = await send(path, number);
      assertEquals([status, Object.keys(body.errors ?? {})], [400, ["lines.1.no"]]);
    }
    for (const number of ["9007199254740991", "1.5e20", "0.1", '"9007199254740993"']) {
      assertEquals((await send(path, number)).status, 200, number);
    }
  }
});
