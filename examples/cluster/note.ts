import process from "node:process";
import { all, create, FrameworkModel, one, prop, removeAll, rest } from "@mongrove/mongrove";
import type { FrameworkRequest } from "@mongrove/mongrove";
import { connectionOf } from "./tenants.ts";

/** Tells which process answered. */
function nameProcess(req: FrameworkRequest): boolean {
  req.res?.set("X-Process", String(process.pid));
  return true;
}

/** Lists may be a moment old: any member of the replica set may answer them. */
function readAnywhere(req: FrameworkRequest): boolean {
  req.framework.options.readPreference = "secondaryPreferred";
  return nameProcess(req);
}

/** A note of a tenant, in the tenant's own database. */
@rest({
  route: "/notes",
  open: true,
  getConnection: connectionOf,
  methods: [
    all({ preFetch: readAnywhere, page: false }),
    one({ preFetch: nameProcess }),
    create({ preFetch: nameProcess }),
    removeAll({ preFetch: nameProcess, q: "optional", max: false }),
  ],
})
export class Note extends FrameworkModel {
  @prop({ required: true })
  text!: string;

  @prop({ type: Date, default: () => new Date(), index: true })
  at!: Date;
}
