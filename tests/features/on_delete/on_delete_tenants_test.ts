import { assertEquals } from "@std/assert";
import {
  create,
  FrameworkModel,
  one,
  prop,
  type ReadOnly,
  type Ref,
  remove,
  rest,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { countOf, type Refused, serveAll } from "./projects.ts";

@rest({ route: "/lands", methods: [one(), create(), remove()], tenant: false })
class Land extends FrameworkModel {}

@rest({
  route: "/clients",
  methods: [one(), create(), remove()],
  tenant: "company",
  trash: { see: () => true },
})
class Client extends FrameworkModel {
  @prop({ required: true, readonly: true })
  readonly company!: ReadOnly<string>;
  @prop({ ref: () => Land, onDelete: "restrict" })
  land?: Ref<Land>;
}

@rest({ route: "/visits", methods: [one(), create()], tenant: "company" })
class Visit extends FrameworkModel {
  @prop({ required: true, readonly: true })
  readonly company!: ReadOnly<string>;
  @prop({ ref: () => Land, onDelete: "cascade" })
  land?: Ref<Land>;
}

const of = (company: string) => ({ headers: { "x-company": company } });

test("references of all tenants restrict a removal, and a cascade stays inside of the tenant", async () => {
  await using app = await serveAll([Land, Client, Visit], {
    tenant: (req) => req.headers["x-company"] as string | undefined,
  });
  const { _id: land } = await app.created("/lands", {}, of("acme"));
  const client = await app.created("/clients", { land }, of("bell"));
  for (const company of ["acme", "bell"]) await app.created("/visits", { land }, of(company));
  const refused = await app.delete<Refused>(`/lands/${land}`, of("acme"));
  assertEquals([refused.status, refused.body.referredBy], [409, ["Client"]]);
  assertEquals((await app.delete(`/clients/${client._id}`, of("acme"))).status, 404);
  assertEquals((await app.delete(`/clients/${client._id}`, of("bell"))).status, 204);
  assertEquals((await app.delete(`/lands/${land}`, of("acme"))).status, 204);
  assertEquals([await countOf(Land), await countOf(Visit, { company: "bell" })], [0, 1]);
  assertEquals(await countOf(Visit), 1);
});
