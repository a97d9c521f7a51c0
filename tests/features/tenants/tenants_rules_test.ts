import { assertEquals, assertMatch, assertNotMatch } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import mongoose from "mongoose";
import { mcp } from "@mongrove/mongrove/mcp";
import {
  action,
  all,
  create,
  type Entity,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  type ReadOnly,
  remove,
  replace,
  rest,
  update,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { serveTools } from "../../mcp/mcp.ts";
import { documentOf } from "../../support/documented.ts";
import { mount } from "../../support/support.ts";
import { of } from "./companies.ts";
import { onlyStrict } from "../../support/only_strict.ts";

const tenant = (req: FrameworkRequest) => req.headers["x-company"] as string | undefined;

/** A hook that gives an entity to another tenant. */
const give = (_req: FrameworkRequest, sheet: Entity<Sheet>) => {
  sheet.set("company", "bell");
  return sheet;
};

@rest({
  route: "/sheets",
  methods: [
    all(),
    one(),
    create({ preSave: give }),
    update({ preSave: give }),
    replace(),
    remove(),
    action("give", {
      on: "one",
      run: async (req, sheet: Entity<Sheet>) => await give(req, sheet).save(),
    }),
  ],
  tenant: "company",
  getConnection: () => mongoose.connection,
  schemaOptions: { strict: false, versionKey: false },
})
class Sheet extends FrameworkModel {
  @prop({ required: true, readonly: true })
  readonly company!: ReadOnly<string>;
  @prop({ unique: true, required: true })
  name!: string;
}

test("no hook and no body moves an entity to another tenant", async () => {
  await using app = await mount([Sheet], { tenant });
  const by = of("acme");
  const { _id } = await app.created("/sheets", { name: "a", company: "bell" }, by);
  const path = `/sheets/${_id}`;
  const sent = [
    await app.patch(path, { name: "b", company: "bell" }, by),
    await app.post(`${path}/give`, {}, by),
    await app.put(path, { name: "c", company: "bell", more: 1 }, by),
  ];
  assertEquals(sent.map(({ status }) => status), [200, 200, 200]);
  const stored = await getModel(Sheet).collection.find().toArray();
  assertEquals(stored.map(({ company, name }) => [company, name]), [["acme", "c"]]);
  assertEquals((await app.get(path, of("bell"))).status, 404);
});

test("a strict router refuses the field of the tenant", async () => {
  await using app = await mount([Sheet], { tenant, strict: onlyStrict("bodies") });
  const by = of("acme");
  const { _id } = await app.created("/sheets", { name: "a" }, by);
  const sent = [
    await app.post("/sheets", { name: "b", company: "bell" }, by),
    await app.patch(`/sheets/${_id}`, { company: "bell" }, by),
    await app.put(`/sheets/${_id}`, { name: "c", company: "bell" }, by),
  ];
  assertEquals(sent.map(({ status }) => status), [400, 400, 400]);
  assertEquals((await app.patch(`/sheets/${_id}`, { company: "acme" }, by)).status, 200);
});

test("assistants stay inside of the tenant of their caller", async () => {
  const api = Framework.initialize({ models: [Sheet], tenant });
  const expose = [{ model: Sheet, operations: ["all", "one", "create"] as const }];
  const app = express();
  app.use(express.json(), api);
  app.use("/mcp", mcp(api, { expose, info: { name: "Sheets", version: "1.0.0" } }));
  await using served = await serveTools(app);
  const { call } = served;
  const [acme, bell] = [of("acme").headers, of("bell").headers];
  const made = await call("create", { model: "Sheet", body: { name: "a" } }, acme);
  const { _id } = made.entity as { _id: string };
  await call("create", { model: "Sheet", body: { name: "a" } }, bell);
  const { entities } = await call("list", { model: "Sheet" }, acme);
  assertEquals((entities as { _id: string }[]).map((each) => each._id), [_id]);
  assertEquals((await call("read", { model: "Sheet", id: _id }, bell)).status, 404);
  assertEquals((await call("list", { model: "Sheet" })).status, 500);
});

test("the OpenAPI document shows the field of the tenant, which no body has", async () => {
  const { schemas, operation } = await documentOf([Sheet]);
  assertMatch(JSON.stringify(schemas.Sheet), /company/);
  for (const [method, path] of [["POST", "/sheets"], ["PATCH", "/sheets/{id}"]] as const) {
    const text = JSON.stringify(operation(method, path).requestBody);
    const [, name = ""] = /schemas\/(\w+)"/.exec(text) ?? [];
    assertNotMatch(`${text} ${JSON.stringify(schemas[name])}`, /company/);
  }
});
