// @ts-types="express-types"
import express from "express";
import { assertEquals } from "@std/assert";
import type { Schema } from "mongoose";
import { Framework, FrameworkModel, getModel, one, prop, rest } from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { asQuery, mount, type Mounted, NOBODY } from "../../support/support.ts";
import { ACME, BELL, Note, of, Project, serveCompanies } from "./companies.ts";

interface Body extends Record<string, unknown> {
  readonly _id: string;
  readonly name: string;
  readonly company: string;
}

async function sendLine({ url }: Mounted): Promise<Response> {
  const headers = { "content-type": "application/x-ndjson", "x-company": ACME };
  const reply = await fetch(`${url}/projects`, { method: "POST", headers, body: '{"name":"a"}\n' });
  await reply.text();
  return reply;
}

/** The ways to create a project of Acme. */
const CREATIONS: [string, (app: Mounted) => Promise<{ readonly status: number }>][] = [
  ["create", (app) => app.post("/projects", { name: "a" }, of(ACME))],
  ["create for another", (app) => app.post("/projects", { name: "a", company: BELL }, of(ACME))],
  ["create with hooks", (app) => app.post("/hooked", { name: "a", company: BELL }, of(ACME))],
  ["many", (app) => app.post("/projects", [{ name: "a" }, { name: "b" }], of(ACME))],
  ["lines", sendLine],
  ["replace", (app) => app.put(`/projects/${NOBODY}`, { name: "a", company: BELL }, of(ACME))],
  ["replace by a key", (app) => app.put("/keyed/x", { name: "a" }, of(ACME))],
];

test("a creation belongs to the tenant of its request, by every way to create", async (t) => {
  for (const [way, send] of CREATIONS) {
    await t.step(way, async () => {
      await using app = await serveCompanies();
      const { status } = await send(app);
      assertEquals(status < 300, true, `${status}`);
      const stored = await getModel(Project).collection.find().toArray();
      assertEquals(stored.map(({ company }) => String(company)).join().includes(BELL), false);
      assertEquals(stored.every(({ company }) => String(company) === ACME), true);
    });
  }
});

/** The requests of Bell for an entity of Acme, none of which may find it. */
async function sendAsBell(app: Mounted, id: string): Promise<number[]> {
  const path = `/projects/${id}`;
  const by = of(BELL);
  const sent = [
    await app.get(path, by),
    await app.patch(path, { name: "b" }, by),
    await app.put(path, { name: "b" }, by),
    await app.delete(path, by),
    await app.delete(`/hooked/${id}`, by),
    await app.post(`${path}/shout`, {}, by),
    await app.get(`${path}/tasks`, by),
    await app.post(`${path}/tasks`, { title: "u" }, by),
    await app.get(`${path}/notes`, by),
  ];
  return sent.map(({ status }) => status);
}

test("no request of another tenant reaches an entity", async () => {
  await using app = await serveCompanies();
  const made = await app.created<Body>(
    "/projects",
    { name: "a", tasks: [{ title: "t" }] },
    of(ACME),
  );
  const note = await app.created<Body>(`/projects/${made._id}/notes`, { text: "n" }, of(ACME));
  const mine = await app.created<Body>("/projects", { name: "m" }, of(BELL));
  const before = await getModel(Project).collection.find({ name: "a" }).toArray();
  assertEquals(await sendAsBell(app, made._id), Array(9).fill(404));
  const by = of(BELL);
  const wrong = [
    await app.patch(`/projects/${mine._id}`, { next: made._id }, by),
    await app.patch(`/projects/${mine._id}`, { notes: [note._id] }, by),
  ];
  assertEquals(wrong.map(({ status }) => status), [400, 400]);
  await app.patch(`/projects${asQuery({})}`, { state: "done" }, by);
  await app.delete("/hooked", by);
  assertEquals(await getModel(Project).collection.find().toArray(), before);
  assertEquals((await app.get("/projects", by)).body, []);
  assertEquals((await app.get("/projects", by)).headers.get("x-total-count"), "0");
  assertEquals((await app.get("/projects?group=state", by)).body, []);
});

test("an entity stays in its tenant, and references of other tenants show nothing", async () => {
  await using app = await serveCompanies();
  const note = await app.created<Body>("/notes", { text: "n" }, of(ACME));
  const made = await app.created<Body>("/projects", { name: "a" }, of(BELL));
  const path = `/projects/${made._id}`;
  assertEquals((await app.patch<Body>(path, { company: ACME }, of(BELL))).body.company, BELL);
  const { _id } = await getModel(Note).findOne() as { _id: unknown };
  await getModel(Project).collection.updateOne({}, { $set: { notes: [_id] } });
  const { body } = await app.get<Body[]>("/projects?populate=notes", of(BELL));
  assertEquals(body[0]?.notes, []);
  assertEquals((await app.get(`${path}/notes`, of(BELL))).body, []);
  assertEquals((await app.get(`${path}/notes/${note._id}`, of(BELL))).status, 404);
});

test("idempotency keys of two tenants do not meet", async () => {
  await using app = await serveCompanies();
  const keyed = (company: string) => ({
    headers: { ...of(company).headers, "idempotency-key": "one" },
  });
  const first = await app.post<Body>("/projects", { name: "a" }, keyed(ACME));
  const second = await app.post<Body>("/projects", { name: "a" }, keyed(BELL));
  const again = await app.post<Body>("/projects", { name: "a" }, keyed(ACME));
  assertEquals([second.status, second.body._id === first.body._id], [201, false]);
  assertEquals(again.body._id, first.body._id);
});

test("unique values are unique inside of a tenant, unless they are global", async () => {
  await using app = await serveCompanies();
  await app.created("/projects", { name: "a", code: "x", domain: "d" }, of(ACME));
  const made = await app.created<Body>("/projects", { name: "a", code: "x" }, of(BELL));
  const fieldsOf = async (company: string, body: object) => {
    const { status, body: { fields } } = await app.post<{ fields: string[] }>(
      "/projects",
      { name: "b", ...body },
      of(company),
    );
    return [status, fields];
  };
  assertEquals(await fieldsOf(ACME, { code: "x" }), [409, ["code"]]);
  assertEquals(await fieldsOf(BELL, { domain: "d" }), [409, ["domain"]]);
  const put = await app.put<Body>("/keyed/x", { name: "c" }, of(BELL));
  assertEquals([put.status, put.body._id, put.body.company], [200, made._id, BELL]);
  const indexes = getModel(Project).schema.indexes().map(([keys]) => JSON.stringify(keys));
  assertEquals(indexes, ['{"company":1,"code":1}', '{"domain":1}']);
});

@rest({ route: "/shelves", methods: [one()], tenant: "company" })
class Shelf extends FrameworkModel {
  @prop()
  company?: string;
  @prop()
  name?: string;
  static override configure(schema: Schema): void {
    schema.index({ name: 1, company: 1 }, { unique: true });
    schema.index({ name: 1 }, { unique: true });
    schema.index({ name: -1 });
  }
}

test("a unique index begins with the tenant unless it names the tenant, and others stay as they are", async () => {
  await using _app = await mount([Shelf], { tenant: () => ACME });
  const indexes = getModel(Shelf).schema.indexes().map(([keys]) => JSON.stringify(keys));
  assertEquals(indexes, ['{"name":1,"company":1}', '{"company":1,"name":1}', '{"name":-1}']);
});

test("a request without a tenant is a 500, and touches nothing", async () => {
  for (const tenant of [undefined, "", {} as never, Promise.resolve(ACME) as never, NaN]) {
    const told: unknown[] = [];
    const onError = (_req: unknown, error: unknown) => void told.push(String(error));
    await using app = await serveCompanies({ tenant: () => tenant, onError });
    assertEquals((await app.post("/projects", { name: "a" })).status, 500);
    assertEquals((await app.get("/projects")).status, 500);
    assertEquals((await app.get("/countries")).status, 200);
    assertEquals(told.length, 2);
    assertEquals(await getModel(Project).collection.countDocuments(), 0);
  }
});

test("queryFor() stays inside of the tenant, in hooks and in routes of the application", async () => {
  await using app = await serveCompanies({
    prepare(app) {
      app.use(express.json());
      app.get("/count", async (req, res) => {
        const { model, filter } = await Framework.queryFor(req, Project);
        res.json(await model.countDocuments(filter));
      });
    },
  });
  await app.created("/projects", { name: "a" }, of(ACME));
  assertEquals((await app.get("/count", of(ACME))).body, 1);
  assertEquals((await app.get("/count", of(BELL))).body, 0);
  assertEquals((await app.get("/count")).status, 500);
});
