import { assertEquals } from "@std/assert";
import { create, FrameworkModel, prop, rest } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { as, mountKeyed } from "./keyed.ts";

@rest({
  route: "/orders",
  methods: [
    create({ idempotency: { keep: "1d", caller: (req) => String(req.headers["x-user"]) } }),
  ],
})
class Order extends FrameworkModel {
  @prop()
  title?: string;
}

test("API keys and idempotency keys do not meet", async () => {
  await using app = await mountKeyed({ models: [Order], keys: { see: () => true } });
  await app.make("ann", ["orders:create"]);
  for (const key of ["a", "b", "a"]) {
    const headers = { ...as("ann").headers, "idempotency-key": key };
    const { status, text } = await app.post("/orders", { title: "Lamp" }, { headers });
    assertEquals(status, 201, text);
  }
  assertEquals((await app.read<unknown[]>("/keys", as("ann"))).length, 1);
});
