import { assertEquals } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import {
  all,
  create,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  one,
  prop,
  type ReadOnly,
  type Ref,
  rest,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { mount } from "../../support/support.ts";
import { of } from "./companies.ts";

abstract class Owned extends FrameworkModel {
  @prop({ required: true, readonly: true })
  readonly company!: ReadOnly<string>;
  @prop({ required: true })
  name!: string;
}

@rest({ route: "/offices", methods: [all(), create()], tenant: "company" })
class Office extends Owned {}

@rest({ route: "/people", methods: [all(), create()], tenant: "company" })
class Person extends Owned {}

@rest({
  route: "/regions",
  methods: [all({ populate: { office: {}, head: {} } }), one(), create()],
  tenant: false,
})
class Region extends FrameworkModel {
  @prop({ ref: () => Office, exists: true })
  office?: Ref<Office>;
  @prop({ ref: () => Person, exists: true })
  head?: Ref<Person>;
}

test("a class without a tenant asks once for the entities of other classes, and only for them", async () => {
  let asked = 0;
  await using app = await mount([Office, Person, Region], {
    tenant: (req) => {
      asked++;
      return req.headers["x-company"] as string | undefined;
    },
  });
  const office = await app.created("/offices", { name: "o" }, of("acme"));
  const head = await app.created("/people", { name: "p" }, of("acme"));
  const times = async (send: () => Promise<unknown>) => {
    asked = 0;
    await send();
    return asked;
  };
  const body = { office: office._id, head: head._id };
  const list = "/regions?populate=office,head";
  assertEquals(await times(() => app.created("/regions", body, of("acme"))), 1);
  assertEquals(await times(() => app.get("/regions")), 0);
  assertEquals(await times(() => app.get(list, of("acme"))), 1);
  const shown = (company: string) => app.read<{ readonly office: unknown }[]>(list, of(company));
  assertEquals(Object((await shown("acme"))[0]?.office).name, "o");
  assertEquals(Object((await shown("bell"))[0]?.office).name, undefined);
  assertEquals((await app.post("/regions", body, of("bell"))).status, 400);
  assertEquals((await app.post("/regions", body)).status, 500);
});

test("each router asks its own function for the entities of other classes", async () => {
  const by = (name: string) => (req: FrameworkRequest) => req.headers[name] as string | undefined;
  const models = [Office, Person, Region];
  await using app = await mount(models, {
    prepare(app) {
      app.use(express.json());
      app.use("/api", Framework.initialize({ models, tenant: by("x-company") }));
    },
    at: "/admin",
    tenant: by("x-chosen"),
  });
  const office = (await app.created("/api/offices", { name: "o" }, of("acme")))._id;
  await app.created("/api/regions", { office }, of("acme"));
  const officeFor = async (path: string, headers: Record<string, string>) => {
    const list = await app.read<{ office: unknown }[]>(`${path}/regions?populate=office`, {
      headers,
    });
    return Object(list[0]?.office).name;
  };
  const bell = { "x-company": "bell", "x-chosen": "acme" };
  assertEquals(await officeFor("/api", bell), undefined);
  assertEquals(await officeFor("/admin", bell), "o");
  assertEquals((await app.post("/api/regions", { office }, { headers: bell })).status, 400);
});
