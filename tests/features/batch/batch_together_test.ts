import { assert, assertEquals } from "@std/assert";
// @ts-types="express-types"
import { json } from "express";
import {
  all,
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  remove,
  rest,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { mountOnReplicaSet } from "../../support/mount_on_replica_set.ts";
import type { Mounted } from "../../support/support.ts";
import { Author, Book, rows, sendBatch } from "./shop.ts";

const batch = { path: "/batch", max: 20 };

/** Sends batches that see their own entities, one after the other. */
async function createAndRead(app: Mounted): Promise<void> {
  for (let sent = 0; sent < 10; sent++) {
    const own = "/authors/{r0._id}";
    const made = ["POST", "/authors", { name: `new ${sent}`, books: 5 }] as const;
    const { status, body } = await sendBatch(app, rows(made, ["GET", own], ["DELETE", own]));
    assertEquals([status, body.responses[1]?.body?.books], [200, 5]);
  }
}

test("requests beside a batch never see what it has not committed, and it sees its own", async () => {
  await using app = await mountOnReplicaSet([Author, Book], { batch });
  const { _id } = await app.created("/authors", { name: "Ann", books: 0 });
  const path = `/authors/${_id}`;
  const undone = rows(["PATCH", path, { books: 99 }], ["GET", path], ["GET", `${path}0`]);
  const done = rows(["GET", path], ["GET", path], ["GET", "/authors"], ["GET", path]);
  const readers = Array.from({ length: 16 }, async () => {
    for (let read = 0; read < 40; read++) assertEquals((await app.read(path)).books, 0);
  });
  const writers = Array.from({ length: 4 }, async () => {
    for (let sent = 0; sent < 10; sent++) {
      const { status, body } = await sendBatch(app, undone);
      assert([404, 409].includes(status), JSON.stringify(body));
      const read = await sendBatch(app, done);
      assertEquals(read.body.responses.map((each) => [each.body].flat()[0]?.books), [0, 0, 0, 0]);
    }
  });
  await Promise.all([...readers, ...writers, createAndRead(app)]);
});

@rest({ route: "/projects", methods: [one(), create(), remove()], history: true })
class Project extends FrameworkModel {
  @prop({ required: true })
  name!: string;
}

@rest({
  route: "/tasks",
  methods: [all({ page: { max: 10 } }), one(), create(), remove()],
  trash: true,
})
class Task extends FrameworkModel {
  @prop({ ref: () => Project, onDelete: "restrict" })
  project?: Ref<Project>;
  @prop({ ref: () => Task, onDelete: "cascade" })
  above?: Ref<Task>;
}

test("rules of references, histories and the trash apply inside of a batch", async () => {
  await using app = await mountOnReplicaSet([Project, Task], { batch });
  const project = ["POST", "/projects", { name: "a" }] as const;
  const task = ["POST", "/tasks", { project: { $result: "r0._id" } }] as const;
  const below = ["POST", "/tasks", { above: { $result: "r1._id" } }] as const;
  const refused = await sendBatch(app, rows(project, task, ["DELETE", "/projects/{r0._id}"]));
  assertEquals([refused.status, refused.body.failed], [409, "r2"]);
  assertEquals(Object(refused.body).referredBy, ["Task"]);
  const { status, body } = await sendBatch(
    app,
    rows(
      ...[project, task, below, ["DELETE", "/tasks/{r1._id}"] as const],
      ["GET", "/tasks"],
      ["GET", "/projects/{r0._id}/history"],
      ["DELETE", "/projects/{r0._id}"],
    ),
  );
  assertEquals(status, 200, JSON.stringify(body));
  assertEquals(body.responses[4]?.body, [] as never);
  assertEquals(Object(body.responses[5]?.body).length, 1);
  const { db } = getModel(Project);
  assertEquals(await db.collection("tasks").countDocuments({ deletedAt: { $ne: null } }), 2);
  assertEquals(await db.collection("projects").countDocuments(), 0);
  assertEquals(await db.collection("projects_history").countDocuments(), 2);
});

test("the answers of a batch have a limit together", async () => {
  await using app = await mountOnReplicaSet([Author, Book], {
    batch,
    prepare: (host) => host.use(json({ limit: "2mb" })),
  });
  const { _id } = await app.created("/books", { title: "x".repeat(1_000_000) });
  const reads = (count: number) =>
    rows(...Array.from({ length: count }, () => ["GET", `/books/${_id}`] as const));
  assertEquals((await sendBatch(app, reads(16))).status, 200);
  const { status, body } = await sendBatch(app, reads(17));
  assertEquals([status, body.code, body.failed], [413, "PAYLOAD_TOO_LARGE", "r16"]);
  const title = { $result: "r0.title" };
  const copies = { title: "a", pages: Array.from({ length: 100 }, () => ({ text: title })) };
  const large = await sendBatch(app, [
    ...reads(1),
    ...rows(["POST", "/books", copies])
      .map((each) => ({ ...each, id: "copy" })),
  ]);
  assertEquals([large.status, large.body.failed], [413, "copy"]);
});
