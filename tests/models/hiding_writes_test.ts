import { assertEquals } from "@std/assert";
import type { Query, Schema } from "mongoose";
import {
  action,
  all,
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  replace,
  rest,
  update,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { pass } from "../support/both_paths.ts";
import { mountOnReplicaSet } from "../support/mount_on_replica_set.ts";
import type { EntityBody } from "../support/support.ts";

const gather = { many: 9, preSave: pass };

const close = action<Note>("close", {
  on: "one",
  async run(_req, note) {
    note.gone = true;
    return await note.save();
  },
});

@rest({
  route: "/notes",
  methods: [all(), one(), create<Note>({ ...gather }), update(), replace(), close],
  main: true,
})
@rest({ route: "/each", methods: [create<Note>({ ...gather, atomic: false })] })
@rest({ route: "/once", methods: [create({ idempotency: { keep: "1h" } }), one(), update()] })
class Note extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ type: Boolean })
  gone?: boolean;
  /** An answer without it is a read of its own. */
  @prop({ select: false })
  secret?: string;
  static override configure(schema: Schema): void {
    schema.pre(/^find/, function (this: Query<unknown, unknown>) {
      this.where({ gone: { $ne: true } });
    });
  }
}

test("a write of an entity that middleware then hides is stored, and answers without it", async () => {
  await using app = await mountOnReplicaSet([Note]);
  const { collection } = getModel(Note);
  const hidden = { text: "t", gone: true };
  const make = async () => String((await app.created("/notes", { text: "a" }))._id);
  const writes: [string, number, (id: string) => ReturnType<typeof app.post>][] = [
    ["update", 204, (id) => app.patch(`/notes/${id}`, hidden)],
    ["replace", 204, (id) => app.put(`/notes/${id}`, hidden)],
    ["create", 204, () => app.post("/notes", hidden)],
  ];
  for (const [name, expected, send] of writes) {
    const { status, text, headers } = await send(await make());
    assertEquals([name, status, text], [name, expected, ""]);
    if (name === "create") assertEquals(headers.get("location")?.startsWith("/notes/"), true);
    assertEquals([name, await collection.countDocuments({ gone: true })], [name, 1]);
    await collection.deleteMany({});
  }
  const closed = await app.post(`/notes/${await make()}/close`);
  assertEquals([closed.status, closed.text], [200, "{}"]);
  const several = await app.post<EntityBody[]>("/notes", [hidden, { text: "b" }, hidden]);
  assertEquals([several.status, several.body.map(({ text }) => text)], [201, ["b"]], several.text);
  const each = await app.post<{ status: number }[]>("/each", [hidden, { text: "c" }]);
  assertEquals([each.status, each.body.map(({ status }) => status)], [207, [201, 201]]);
  assertEquals(await collection.countDocuments(), 6);
});

test("a repeated creation of an entity that middleware hides is answered as the first one", async () => {
  await using app = await mountOnReplicaSet([Note]);
  const { collection } = getModel(Note);
  const send = (body: object, key: string) =>
    app.post("/once", body, { headers: { "idempotency-key": key } });
  const tell = ({ status, text, headers }: Awaited<ReturnType<typeof send>>) =>
    [status, text, headers.get("location"), headers.get("etag")] as const;
  const first = tell(await send({ gone: true }, "a"));
  assertEquals([first[0], tell(await send({ gone: true }, "a"))], [204, first]);
  await collection.deleteMany({});
  assertEquals((await send({ gone: true }, "a")).status, 404);
  const { body } = await send({ text: "b" }, "b");
  assertEquals((await app.patch(`/once/${body._id}`, { gone: true })).status, 204);
  assertEquals((await send({ text: "b" }, "b")).status, 404);
});
