import { assertEquals, assertThrows } from "@std/assert";
import {
  all,
  and,
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  remove,
  removeAll,
  replace,
  rest,
  RestError,
  StoredFile,
  update,
} from "../../mod.ts";
import type { Plugin } from "../../src/plugin/mod.ts";
import { openLive } from "../features/live/live.ts";
import { rows, sendBatch } from "../features/batch/shop.ts";
import { test } from "../harness/testing.ts";
import { mountDocumented } from "../support/documented.ts";
import { mountOnReplicaSet } from "../support/mount_on_replica_set.ts";
import { asQuery, type ErrorBody, mount, NOBODY } from "../support/support.ts";
import { until } from "../support/until.ts";

class Page extends FrameworkModel {
  @prop()
  text?: string;
}

@rest({
  route: "/books",
  methods: [
    all({ open: true }),
    one({ open: true }),
    create({ preFetch: note("create") }),
    removeAll(),
  ],
})
class Book extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @rest({ methods: [all(), create()] })
  @arrayProp({ items: Page, embedded: true })
  pages?: Page[];
  @rest({ methods: [one(), replace(), remove()] })
  @prop({ type: StoredFile, maxBytes: 1000 })
  cover?: StoredFile;
}

let noted: string[] = [];

function note(name: string) {
  return (req: FrameworkRequest) => {
    noted.push(`${name} ${req.framework.operation} ${req.framework.weight}`);
    return true;
  };
}

/** Lets the requests with the header `x-user` pass, and notes each call. */
function signedIn(req: FrameworkRequest): boolean {
  note("guard")(req);
  if (req.headers["x-user"] === undefined) throw new RestError(401, { code: "UNAUTHENTICATED" });
  return req.headers["x-user"] !== "eve";
}

function take(): string[] {
  const taken = noted;
  noted = [];
  return taken;
}

const ADA = { headers: { "x-user": "ada" } };

test("open operations go without the guard, and what lies below them does not", async () => {
  await using app = await mount([Book], { guard: signedIn });
  take();
  assertEquals((await app.get("/books")).status, 200);
  assertEquals((await app.get(`/books/${NOBODY}`)).status, 404);
  assertEquals(take(), []);
  const refused = [
    ["POST", "/books", 401],
    ["DELETE", "/books", 401],
    ["GET", `/books/${NOBODY}/pages`, 401],
    ["POST", `/books/${NOBODY}/pages`, 401],
    ["GET", `/books/${NOBODY}/cover`, 401],
  ] as const;
  for (const [method, path, status] of refused) {
    assertEquals((await app.send(method, path)).status, status, path);
  }
  assertEquals(
    take(),
    ["create", "removeAll", "all", "create", "one"].map((each) => `guard ${each} 1`),
  );
});

test("the document calls open operations public, and names no guard", async () => {
  const route = { method: "GET", operation: "all", summary: "Report", run: () => undefined };
  const plugin = {
    name: "reports",
    routes: [{ ...route, path: "/sums", open: true }, { ...route, path: "/costs" }],
  };
  await using app = await mountDocumented([Book], { guard: signedIn, plugins: [plugin as Plugin] });
  const operations = Object.entries(app.document.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => [method, path, app.operation(method, path)] as const)
  );
  assertEquals(
    operations.filter(([, , operation]) => Reflect.has(operation, "security"))
      .map(([method, path, operation]) => [method, path, Reflect.get(operation, "security")]),
    [["get", "/books", []], ["get", "/books/{id}", []], ["get", "/sums", []]],
  );
  assertEquals(/signedIn|"access"/.test(JSON.stringify(app.document)), false);
});

test("the guard runs once, before all hooks, parameters and bodies", async () => {
  await using app = await mount([Book], { guard: signedIn });
  const eve = await app.send<ErrorBody>("POST", "/books", { headers: { "x-user": "eve" } });
  assertEquals([eve.status, eve.body.code], [403, "FORBIDDEN"]);
  assertEquals((await app.send("DELETE", "/books?nothing=1")).status, 401);
  take();
  const made = await app.send("POST", "/books", { body: { name: "a" }, ...ADA });
  assertEquals([made.status, take()], [201, ["guard create 1", "create create 1"]]);
  // A path that no route takes is the host's.
  assertEquals((await app.get("/elsewhere")).status, 404);
  assertEquals(take(), []);
});

test("a guard can be an and(), and its failures are answered as those of hooks", async () => {
  const failing = { broken: false };
  const guard = and(signedIn, (_req: FrameworkRequest) => {
    if (failing.broken) throw new Error("secret");
    return true;
  });
  const told: unknown[] = [];
  const onError = (_req: unknown, error: unknown) => void told.push((error as Error).message);
  await using app = await mountOnReplicaSet([Book], { guard, onError, batch: { path: "/batch" } });
  const create = () => app.send<ErrorBody>("POST", "/books", { body: { name: "a" }, ...ADA });
  assertEquals((await create()).status, 201);
  failing.broken = true;
  const { status, text } = await create();
  assertEquals([status, text.includes("secret"), told], [500, false, ["secret"]]);
  const batch = await app.send("POST", "/batch", {
    body: { requests: rows(["GET", "/books"]) },
    ...ADA,
  });
  assertEquals([batch.status, batch.text.includes("secret"), told.length], [500, false, 2]);
});

test("the guard of a batch sees its weight, and refuses it as a whole", async () => {
  await using app = await mountOnReplicaSet([Book], { guard: signedIn, batch: { path: "/batch" } });
  take();
  const requests = rows(["POST", "/books", { name: "a" }], ["POST", "/books", { name: "b" }]);
  const refused = await sendBatch(app, requests);
  assertEquals([refused.status, take()], [401, ["guard batch 2"]]);
  const passed = await app.send("POST", "/batch", { body: { requests }, ...ADA });
  assertEquals(passed.status, 200, passed.text);
  const inner = ["guard create 0", "create create 0"];
  assertEquals(take(), ["guard batch 2", ...inner, ...inner]);
  // A stranger learns nothing from a malformed batch.
  const malformed = { requests: [{ id: "a" }] };
  assertEquals((await app.post("/batch", malformed)).status, 401);
  const known = await app.send("POST", "/batch", { body: malformed, ...ADA });
  assertEquals([known.status, take()], [400, ["guard batch 1", "guard batch 1"]]);
});

test("the guard runs again for open live lists, twice for uploads, once for other files", async () => {
  @rest({ route: "/notes", methods: [all({ live: true }), create()] })
  class Note extends FrameworkModel {
    @prop()
    name?: string;
  }
  await using app = await mountOnReplicaSet([Note, Book], {
    guard: signedIn,
    limits: { live: { renewMS: 1000 } },
  });
  const { body } = await app.send<{ _id: string }>("POST", "/books", {
    body: { name: "a" },
    ...ADA,
  });
  const cover = `${app.url}/books/${body._id}/cover`;
  take();
  await (await fetch(cover, { method: "PUT", body: "x", ...ADA })).body?.cancel();
  assertEquals(take(), ["guard replace 1", "guard replace 0"]);
  await (await fetch(cover, ADA)).body?.cancel();
  assertEquals(take(), ["guard one 1"]);
  await (await fetch(cover, { method: "DELETE", ...ADA })).body?.cancel();
  assertEquals(take(), ["guard remove 1"]);
  await using live = await openLive(`${app.url}/notes`, ADA.headers);
  await live.ready();
  await until(() => noted.length > 1);
  assertEquals(take().slice(0, 2), ["guard all 1", "guard all 0"]);
});

@rest({
  route: "/drafts",
  open: true,
  history: true,
  trash: { see: () => true },
  methods: [
    one({ open: false }),
    update({ open: false }),
    create({ idempotency: { keep: "1h" } }),
    remove(),
  ],
})
class Draft extends FrameworkModel {
  @prop()
  name?: string;
}

test("a guarded one() or update() of an open class guards what follows from it", async () => {
  await using app = await mountOnReplicaSet([Draft], { guard: signedIn });
  const key = { "idempotency-key": "k" };
  const { _id: shown } = await app.created("/drafts", { name: "a" }, { headers: key });
  const { _id: gone } = await app.created("/drafts", { name: "b" });
  assertEquals((await app.delete(`/drafts/${gone}`)).status, 204);
  take();
  const requests = [
    ["GET", `/drafts/${shown}/history`],
    ["POST", `/drafts/${shown}/revert`, { version: 0 }],
    ["POST", "/drafts", { name: "a" }],
    ["POST", `/drafts/${gone}/restore`],
  ] as const;
  const statusesOf = async (headers: Record<string, string>) => {
    const statuses = [];
    for (const [method, path, body] of requests) {
      statuses.push((await app.send(method, path, { body, headers })).status);
    }
    return [statuses, take()];
  };
  const guards = ["history 1", "revert 1", "one 0", "restore 1"].map((each) => `guard ${each}`);
  assertEquals(await statusesOf(key), [[401, 401, 401, 401], guards]);
  assertEquals(await statusesOf({ ...key, ...ADA.headers }), [[200, 200, 201, 200], guards]);
});

test("an open @rest does not open the history and the trash that another @rest of its class asks for", async () => {
  @rest({ route: "/inner", history: true, trash: { see: () => true }, methods: [one(), update()] })
  @rest({ route: "/public", open: true, methods: [all(), one(), update(), remove()] })
  @rest({ route: "/shown", open: true, history: true, methods: [one()] })
  class Post extends FrameworkModel {
    @prop()
    text?: string;
  }
  await using app = await mountOnReplicaSet([Post], { guard: signedIn });
  const { _id } = await getModel(Post).create({ text: "a" });
  const statusOf = async (method: string, path: string) => (await app.send(method, path)).status;
  assertEquals(await statusOf("GET", `/public/${_id}`), 200);
  const guarded = [
    `GET /public/${_id}/history`,
    `POST /public/${_id}/restore`,
    "GET /public?trash=only",
    "GET /public?q={}&tr%61sh=only",
    `GET /public/${_id}?trash=only`,
    `DELETE /public/${_id}?trash=only`,
    `GET /shown/${_id}/history?trash=only`,
  ];
  assertEquals(await statusOf("GET", `/shown/${_id}/history`), 200);
  assertEquals(await statusOf("DELETE", `/public/${_id}`), 204);
  for (const path of guarded) {
    const [method = "", url = ""] = path.split(" ");
    assertEquals(await statusOf(method, url), 401, path);
  }
  assertEquals((await app.get("/public?trash=only", ADA)).status, 200);
  assertEquals((await app.delete(`/public/${_id}?trash=only`, ADA)).status, 204);
});

test("queryFor() runs no guard", async () => {
  const found: unknown[] = [];
  await using app = await mount([Book], {
    guard: () => false,
    prepare: (express) =>
      express.get("/count", async (req, res) => {
        const { filter, model } = await Framework.queryFor(req, Book);
        found.push(filter);
        res.json({ count: await model.countDocuments(filter) });
      }),
  });
  assertEquals((await app.get(`/count${asQuery({ name: "a" })}`)).text, '{"count":0}');
  assertEquals((await app.post("/books")).status, 403);
});

test("open is a boolean, at a class, a property or an operation", () => {
  const wrong = [
    () => ({ route: "/a", methods: [all()], open: "yes" }),
    () => ({ route: "/a", methods: [all({ open: 1 as never })] }),
  ];
  for (const options of wrong) {
    assertThrows(
      () => {
        @rest(options() as never)
        class Wrong extends FrameworkModel {}
        Framework.initialize({ models: [Wrong as never] });
      },
      TypeError,
      '"open"',
    );
  }
});
