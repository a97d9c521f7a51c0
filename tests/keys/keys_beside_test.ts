import { assertEquals } from "@std/assert";
import { create, FrameworkModel, one, prop, type Ref, remove, rest } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { as, by, mountKeyed } from "./keyed.ts";

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

@rest({ route: "/keyed-rooms", methods: [create(), remove()] })
class KeyedRoom extends FrameworkModel {
  @prop()
  name?: string;
}

@rest({ route: "/keyed-beds", methods: [create(), one()] })
class KeyedBed extends FrameworkModel {
  @prop({ ref: KeyedRoom, onDelete: "restrict" })
  room?: Ref<KeyedRoom>;
}

test("a refused removal names only the classes that the key may read", async () => {
  await using app = await mountKeyed({ models: [KeyedRoom, KeyedBed] });
  const { _id } = await app.created("/keyed-rooms", { name: "a" }, as("ann"));
  await app.created("/keyed-beds", { room: _id }, as("ann"));
  for (const [scopes, names] of [[[], []], [["keyed-beds:one"], ["KeyedBed"]]] as const) {
    const key = await app.make("ann", ["keyed-rooms:remove", ...scopes]);
    const { status, body } = await app.delete<{ referredBy: string[] }>(
      `/keyed-rooms/${_id}`,
      by(key),
    );
    assertEquals([status, body.referredBy], [409, names]);
  }
});
