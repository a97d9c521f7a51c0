import { assert, assertEquals } from "@std/assert";
import compression from "npm:compression@^1";
import session from "npm:express-session@^1";
// @ts-types="express-types"
import express from "express";
import type { Express, RequestHandler } from "express-types";
import { all, create, FrameworkModel, getModel, one, prop, remove, rest } from "../../mod.ts";
import type { FrameworkRequest, ModelClass } from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

/** Middleware whose `end()` ends the response later. */
const LATE: Readonly<Record<string, () => RequestHandler>> = {
  compression: () => compression({ threshold: 0 }) as unknown as RequestHandler,
  sessions: () => {
    const options = { secret: "s", resave: false, saveUninitialized: true };
    return session(options) as unknown as RequestHandler;
  },
};

function answer(req: FrameworkRequest): true {
  req.res?.status(202).json({ own: "x".repeat(5000) });
  return true;
}

function answerAndThrow(req: FrameworkRequest): never {
  answer(req);
  throw new Error("after the answer");
}

class Row extends FrameworkModel {
  @prop()
  text?: string;
}

function buildRows(): ModelClass {
  const schemaOptions = { collection: "rows" };
  const methods = [all(), one(), create(), remove()];
  @rest({ route: "/rows", methods, schemaOptions })
  @rest({ route: "/hooked", methods: [all<Row>({ preSend: pass })] })
  @rest({ route: "/pages", methods: [all<Row>({ page: { size: 50, max: 50 } })] })
  @rest({ route: "/early", methods: [all<Row>({ preFetch: answer })] })
  @rest({
    route: "/late",
    methods: [all<Row>({ postFetch: (req, row) => answer(req) && row })],
  })
  @rest({ route: "/thrown", methods: [all<Row>({ preFetch: answerAndThrow })] })
  class Rows extends Row {}
  return Rows;
}

async function mountRows(make: () => RequestHandler, count: number) {
  const Rows = buildRows();
  const prepare = (app: Express) => app.use(express.json(), make());
  const app = await mount([Rows], { prepare });
  const rows = Array.from({ length: count }, (_, place) => ({ text: `${place}`.repeat(100) }));
  const stored = await getModel(Rows).insertMany(rows);
  return { app, ids: stored.map(({ id }) => String(id)) };
}

for (const [name, make] of Object.entries(LATE)) {
  test(`a list of any length is complete behind ${name}`, async () => {
    for (const count of [0, 1, 5, 50, 2000]) {
      const { app } = await mountRows(make, count);
      await using _app = app;
      for (const path of ["/rows", "/hooked", "/pages"]) {
        const { status, body } = await app.get<unknown[]>(path);
        const expected = path === "/pages" ? Math.min(count, 50) : count;
        assertEquals([status, body.length], [200, expected], `${path} of ${count}`);
      }
    }
  });

  test(`entities are answered behind ${name}`, async () => {
    const { app, ids: [id] } = await mountRows(make, 1);
    await using _app = app;
    assertEquals((await app.get(`/rows/${id}`)).status, 200);
    assertEquals((await app.post("/rows", { text: "new" })).status, 201);
    assertEquals((await app.delete(`/rows/${id}`)).status, 204);
    assertEquals((await app.get(`/rows/${id}`)).status, 404);
  });

  test(`a hook that answers by itself behind ${name} is not cut`, async () => {
    const { app } = await mountRows(make, 3);
    await using _app = app;
    for (const path of ["/early", "/late", "/thrown"]) {
      const { status, body } = await app.get<{ own: string }>(path);
      assertEquals([status, body.own.length], [202, 5000], path);
    }
    assert((await app.get("/rows")).status === 200);
  });
}
