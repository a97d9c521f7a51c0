/** An application with large collections, many tenants and many subscribers, for `large` and `live`. @module */
// @ts-types="npm:@types/express@^5"
import express from "express";
import mongoose from "mongoose";
import process from "node:process";
import { all, create, Framework, type FrameworkRequest, one, update } from "../../mod.ts";
import { listen, URI } from "./common.ts";
import { on } from "./models.ts";

/** How tenants are told apart, if the models of tenants are served: by a field, or by databases. */
const { BENCH_TENANTS } = process.env;

const tenantOf = (req: FrameworkRequest) => String(req.headers["x-tenant"]);

const pages = {
  page: { size: 20, max: 100 },
  sort: ["n"],
  search: ["name"],
  groups: { by: ["state"], count: true },
} as const;
const entities = {
  collection: "entities",
  fields: { n: { type: Number }, name: {}, state: {} },
};
const models = [
  on("entities", [all({ ...pages, count: true, live: true }), one(), update()], entities),
  on("bounded", [all({ ...pages, count: { upTo: 10_000 } })], entities),
  on("tickets", [all({ live: true })], {
    fields: { tenant: {}, state: {}, level: { type: Number } },
    scope: (req: FrameworkRequest) => ({ tenant: tenantOf(req) }),
  }),
];

const tenants = BENCH_TENANTS === "databases"
  ? {
    getConnection: (req: FrameworkRequest) =>
      mongoose.connection.useDb(tenantOf(req), { useCache: true }),
  }
  : { tenant: "company" };
const tenantModels = Array.from(
  { length: 20 },
  (_, index) =>
    on(`m${index}`, [all({ page: { max: 20 } }), one(), create()], {
      fields: { company: { readonly: true, index: true }, name: {} },
      ...tenants,
    }),
);

await mongoose.connect(URI);
const app = express();
app.use(express.json());
app.use(Framework.initialize({
  models: BENCH_TENANTS ? tenantModels : models,
  ...BENCH_TENANTS === "field" && { tenant: tenantOf },
  limits: { timeMS: 60_000, live: { maxSubscribers: 20_000 } },
}));
listen(app);
