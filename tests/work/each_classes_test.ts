import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { create, define, FrameworkModel, getModel, one, prop, remove, rest } from "../../mod.ts";
import { type FrameworkRequest, update } from "../../mod.ts";
import type { MigrationContext } from "../../src/work/mod.ts";
import { test } from "../harness/testing.ts";
import { mountOnReplicaSet } from "../support/mount_on_replica_set.ts";
import { openParcels, runOne } from "./worked.ts";

const hooks: string[] = [];

const noted = update<Crate>({
  preSave(_req, crate) {
    hooks.push("preSave");
    return crate;
  },
});

@rest({
  route: "/crates",
  methods: [one(), create(), noted, remove()],
  history: true,
  trash: { see: () => true },
  tenant: "company",
})
class Crate extends FrameworkModel {
  static override schemaOptions = { timestamps: true };
  @prop()
  label?: string;
  @prop({ readonly: true })
  readonly company!: string;
  @prop({ stamp: "updatedBy" })
  readonly changedBy?: string;
}

const as = (user: string, company: string) => ({ headers: { "x-user": user, "x-in": company } });

const OPTIONS = {
  actor: (req: FrameworkRequest) => req.header("x-user"),
  tenant: (req: FrameworkRequest) => req.header("x-in"),
};

interface Shown {
  readonly label: string;
  readonly changedBy: string;
  readonly __v: number;
}

type Records = { operation: string; version: number; changed: string[]; actor?: string }[];

test("each() changes entities of all tenants and of the trash, without hooks and stamps", async () => {
  await using app = await mountOnReplicaSet([Crate], OPTIONS);
  const { _id } = await app.created("/crates", { label: "a" }, as("ann", "acme"));
  const gone = await app.created("/crates", { label: "a" }, as("bob", "bell"));
  await app.delete(`/crates/${gone._id}`, as("bob", "bell"));
  const change = ({ each }: MigrationContext) =>
    each(Crate, { label: "a" }, () => ({ label: "b" }));
  await runOne(change);
  const all = await getModel(Crate).collection.find().toArray();
  assertEquals(all.map(({ label }) => label), ["b", "b"]);
  const { body } = await app.get<Shown>(`/crates/${_id}`, as("ann", "acme"));
  assertEquals([body.label, body.changedBy, body.__v, hooks], ["b", "ann", 1, []]);
  const { body: records } = await app.get<Records>(`/crates/${_id}/history`, as("ann", "acme"));
  assertEquals(records.map(({ operation }) => operation), ["create"]);
});

test("each({ history }) records real changes, which can be reverted", async () => {
  await using app = await mountOnReplicaSet([Crate], OPTIONS);
  const { _id } = await app.created("/crates", { label: "a" }, as("ann", "acme"));
  await runOne(async ({ each }) => {
    const change = () => ({ label: "b" });
    for (const changed of [1, 0]) {
      assertEquals(await each(Crate, {}, change, { history: true }), { seen: 1, changed });
    }
  });
  const { body: records } = await app.get<Records>(`/crates/${_id}/history`, as("ann", "acme"));
  const shown = records.map(({ operation, version, changed, actor }) => {
    return [operation, version, changed.includes("label"), actor];
  });
  assertEquals(shown, [["migrate", 1, true, undefined], ["create", 0, false, "ann"]]);
  const reverted = await app.post<Shown>(
    `/crates/${_id}/revert`,
    { version: 0 },
    as("ann", "acme"),
  );
  assertEquals([reverted.status, reverted.body.label], [200, "a"]);
});

class Sealed extends FrameworkModel {
  declare label?: string;
}
define(Sealed, { fields: { label: {} } });

test("each() takes classes of define(), Mongoose models, and kinds", async () => {
  await using _ = await openParcels(0);
  const Loose = mongoose.model("LooseBox", new mongoose.Schema({ label: String }));
  const Heavy = Loose.discriminator("HeavyBox", new mongoose.Schema({ weight: Number }));
  await getModel(Sealed).collection.insertOne({ label: "a" });
  await Loose.collection.insertMany([{ label: "a" }, { label: "a", __t: "HeavyBox" }]);
  await runOne(async ({ each }) => {
    assertEquals((await each(Sealed, {}, () => ({ label: "b" }))).changed, 1);
    assertEquals((await each(Heavy, {}, () => ({ weight: 1 }))).seen, 1);
    assertEquals((await each(Loose, {}, () => ({ label: "b" }))).changed, 2);
  });
  const all = await Loose.find().sort({ _id: 1 }).lean();
  assertEquals(all.map(({ label, __v }) => [label, __v]), [["b", 1], ["b", 2]]);
  assert(await Heavy.exists({ weight: 1 }));
});
