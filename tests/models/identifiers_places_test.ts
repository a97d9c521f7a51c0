import { assertEquals } from "@std/assert";
import type { Schema } from "mongoose";
import { connect } from "../../src/client/mod.ts";
import {
  all,
  create,
  FrameworkModel,
  one,
  prop,
  remove,
  replace,
  rest,
  update,
} from "../../mod.ts";
import type { Ref } from "../../mod.ts";
import { at, declareId, ID_KINDS, type Kind } from "../fixtures/id_kinds.ts";
import { test } from "../harness/testing.ts";
import { documentOf } from "../support/documented.ts";
import { mountOnReplicaSet } from "../support/mount_on_replica_set.ts";
import type { EntityBody } from "../support/support.ts";

function declare({ type }: Kind) {
  @rest({
    route: "/flats",
    tenant: "company",
    methods: [all(), one(), create(), update(), remove(), replace()],
  })
  class Flat extends FrameworkModel {
    @prop()
    company?: string;
    @prop()
    name?: string;
    static override configure(schema: Schema): void {
      declareId(schema, type);
    }
  }
  @rest({ route: "/rooms", tenant: "company", methods: [all(), create()] })
  class Room extends FrameworkModel {
    @prop()
    company?: string;
    @prop({ ref: Flat, onDelete: "cascade" })
    flat?: Ref<Flat>;
    @prop({ ref: Flat, onDelete: "unset" })
    other?: Ref<Flat>;
  }
  return { Flat, Room };
}

async function serve(kind: Kind) {
  const { Flat, Room } = declare(kind);
  const tenant = ({ headers }: { headers: Record<string, unknown> }) => String(headers["x-of"]);
  const app = await mountOnReplicaSet([Flat, Room], { tenant: tenant as never });
  return { app, Flat };
}

for (const [name, kind] of Object.entries(ID_KINDS)) {
  const of = (company: string) => ({ headers: { "x-of": company } });

  test(`an _id of the type ${name} stays within its tenant`, async () => {
    const { app: opened } = await serve(kind);
    await using app = opened;
    const [_id] = kind.ids;
    await app.created("/flats", { _id, name: "a" }, of("x"));
    const path = at("/flats", _id);
    const statuses = [
      await app.get(path, of("y")),
      await app.put(path, {}, of("y")),
      await app.patch(path, { name: "b" }, of("y")),
      await app.delete(path, of("y")),
      await app.post("/flats", { _id }, of("y")),
      await app.put(path, { name: "c" }, of("x")),
    ].map(({ status }) => status);
    assertEquals(statuses, [404, 404, 404, 404, 409, 200]);
  });

  test(`a removed _id of the type ${name} leaves its references`, async () => {
    const { app: opened } = await serve(kind);
    await using app = opened;
    const [first, second] = kind.ids;
    for (const _id of [first, second]) await app.created("/flats", { _id }, of("x"));
    await app.created("/rooms", { flat: first, other: second }, of("x"));
    const { _id } = await app.created("/rooms", { flat: second, other: first }, of("x"));
    assertEquals((await app.delete(at("/flats", first), of("x"))).status, 204);
    const left = await app.read<EntityBody[]>("/rooms", of("x"));
    assertEquals(left.map((each) => [each._id, each.flat, each.other]), [
      [_id, second, undefined],
    ]);
  });

  test(`the client and the OpenAPI document have an _id of the type ${name}`, async () => {
    const { app: opened, Flat } = await serve(kind);
    await using app = opened;
    const flats = connect(app.url, of("x")).resource<InstanceType<typeof Flat>>("/flats");
    for (const _id of kind.ids) {
      const made = await flats.create({ _id, name: "a" } as never);
      assertEquals(made._id, _id as never);
      assertEquals((await flats.one(made._id)).name, "a");
      assertEquals((await flats.update(made._id, { name: "b" })).name, "b");
      await flats.remove(made._id);
    }
    const { document } = await documentOf([Flat]);
    const { paths } = document as unknown as {
      paths: Record<string, Record<string, { parameters?: { name: string; schema: unknown }[] }>>;
    };
    const [path = ""] = Object.keys(paths).filter((each) => each.includes("{"));
    const id = paths[path]?.get?.parameters?.[0]?.schema;
    const schemas = {
      String: { type: "string" },
      Number: { type: "number" },
      UUID: { type: "string", format: "uuid" },
    };
    assertEquals<unknown>(id, schemas[name as "String"]);
  });
}
