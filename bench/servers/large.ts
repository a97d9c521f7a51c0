/** An application with large collections, many tenants and many subscribers. `GET /state` tells what it has used. @module */
// @ts-types="npm:@types/express@^5"
import express from "express";
import mongoose from "mongoose";
import type { Schema } from "mongoose";
import process from "node:process";
import { all, create, Framework, FrameworkModel, one, prop, rest, update } from "../../mod.ts";
import type { FrameworkRequest, ModelClass } from "../../mod.ts";

const { BENCH_URI = "", BENCH_TENANTS = "", PORT } = process.env;

const LIST = {
  page: { size: 20, max: 100 },
  sort: ["n"],
  search: ["name"],
  groups: { by: ["state"], count: true },
} as const;

abstract class Entity extends FrameworkModel {
  @prop({ type: Number })
  n!: number;
  @prop()
  name?: string;
  @prop()
  state?: string;

  static override configure(schema: Schema): void {
    schema.index({ n: 1, _id: 1 }).index({ state: 1, n: 1, _id: 1 });
  }
}

@rest({
  route: "/entities",
  methods: [all({ ...LIST, count: true, live: true }), one(), update()],
  schemaOptions: { collection: "entities" },
})
class Counted extends Entity {}

@rest({
  route: "/bounded",
  methods: [all({ ...LIST, count: { upTo: 10_000 } })],
  schemaOptions: { collection: "entities" },
})
class Bounded extends Entity {}

const tenantOf = (req: FrameworkRequest) => String(req.headers["x-tenant"]);

/** Returns a model of the tenants, who share a collection or have a database each. */
function tenantModel(index: number): ModelClass {
  const methods = [all({ page: { max: 20 } }), one(), create()];
  const options = BENCH_TENANTS === "databases"
    ? {
      getConnection: (req: FrameworkRequest) =>
        mongoose.connection.useDb(tenantOf(req), { useCache: true }),
    }
    : { tenant: "company" as never };
  @rest({ route: `/m${index}`, methods, ...options })
  class OfTenant extends FrameworkModel {
    @prop({ readonly: true, index: true })
    company?: string;
    @prop()
    name?: string;
  }
  return Object.defineProperty(OfTenant, "name", { value: `M${index}` });
}

const models = BENCH_TENANTS === ""
  ? [Counted, Bounded]
  : Array.from({ length: 20 }, (_, index) => tenantModel(index));

await mongoose.connect(BENCH_URI);
const app = express();
app.use(express.json());
app.use(Framework.initialize({
  models,
  ...BENCH_TENANTS === "field" && { tenant: tenantOf },
  live: { maxSubscribers: 20_000 },
  maxTimeMS: 60_000,
}));
app.get("/state", (_req, res) => {
  const { user, system } = process.cpuUsage();
  const { rss } = process.memoryUsage();
  res.json({ cpuMs: (user + system) / 1000, mb: rss / 2 ** 20 });
});
app.listen({ port: Number(PORT), host: "127.0.0.1", backlog: 4096 });
