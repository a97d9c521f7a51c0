import mongoose from "mongoose";
import {
  action,
  all,
  arrayProp,
  create,
  type Entity,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  type Hidden,
  type ModelClass,
  one,
  prop,
  type ReadOnly,
  type Ref,
  remove,
  removeAll,
  replace,
  rest,
  update,
  updateAll,
} from "../../../mod.ts";
import { mountOnReplicaSet } from "../../support/mount_on_replica_set.ts";
import type { Mounted, MountOptions } from "../../support/support.ts";

/** A value that no record and no answer may contain. */
export const SECRET = "s3cret";

const notAdmin = (req: FrameworkRequest) => req.headers["x-user"] !== "admin";

/** An embedded part with a value that nobody sees, one that few see, and one that few may set. */
export class Step extends FrameworkModel {
  @prop({ required: true })
  text!: string;
  @prop({ hidden: true, default: SECRET })
  token!: Hidden<string>;
  @prop({ type: Number, hidden: notAdmin })
  price?: number;
  @prop({ stamp: "updatedBy" })
  readonly by?: ReadOnly<string>;
}

@rest({ route: "/remarks", methods: [all(), one(), update()], history: true })
export class Remark extends FrameworkModel {
  @prop({ required: true })
  text!: string;
}

@rest({
  route: "/plans",
  methods: [
    all(),
    one(),
    create({ many: 10, formats: ["ndjson"] }),
    update(),
    updateAll({ fields: ["name", "state"] }),
    replace(),
    remove(),
    removeAll(),
    action("shout", {
      on: "one",
      run: async (_req, plan: Entity<Plan>) => {
        plan.name = plan.name.toUpperCase();
        return await plan.save();
      },
    }),
  ],
  history: true,
  schemaOptions: { timestamps: true },
})
@rest({
  route: "/hooked",
  methods: [
    one({ postFetch: (_req, plan) => plan }),
    create({ preSave: (_req, plan) => plan }),
    update({ preSave: (_req, plan) => plan }),
    remove({ preSave: (_req, plan) => plan }),
  ],
  history: true,
  main: true,
})
export class Plan extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ default: "open", enum: ["open", "done", "late"] })
  state!: string;
  @prop({ unique: true, sparse: true })
  code?: string;
  @prop({ type: Number, hidden: notAdmin })
  budget?: number;
  @prop({ readonly: notAdmin })
  owner?: string;
  @prop({ hidden: true, default: SECRET })
  secret!: Hidden<string>;
  @prop({ select: false })
  password?: string;
  @arrayProp({ items: String })
  tags!: string[];
  @prop({ type: Object })
  notes?: Record<string, unknown>;
  @rest({ methods: [all(), one(), create(), update(), remove(), updateAll({ fields: ["text"] })] })
  @arrayProp({ items: Step, embedded: true, apart: false })
  steps!: Step[];
  @rest({ methods: [one(), create(), update(), remove()] })
  @prop({ type: Step, apart: false })
  last?: Step;
  @rest({ methods: [all(), create()] })
  @arrayProp({ items: Step, embedded: true, apart: true })
  apartSteps!: Step[];
  @rest({ methods: [all(), one(), create(), update(), remove()] })
  @arrayProp({ items: Remark })
  remarks!: Ref<Remark>[];
  @prop({ stamp: "updatedBy" })
  readonly changedBy?: ReadOnly<string>;
}

/** Serves models on a replica set. The header `x-user` has the sender of a request. */
export async function serveHistory(
  models: readonly ModelClass[],
  options: MountOptions = {},
): Promise<Mounted> {
  const app = await mountOnReplicaSet(models, {
    actor: (req) => req.headers["x-user"] as string | undefined,
    ...options,
  });
  return app;
}

/** Serves plans. */
export async function servePlans(options: MountOptions = {}): Promise<Mounted> {
  const app = await serveHistory([Plan, Remark], options);
  await getModel(Plan).init();
  return app;
}

/** The options of a request of a user. */
export const as = (user: string) => ({ headers: { "x-user": user } });

/** A stored document. */
export type Stored = Record<string, unknown> & { readonly _id: unknown; readonly __v?: number };

/** A record, as the collection has it. */
export interface StoredRecord extends Stored {
  readonly entity: unknown;
  readonly version: number;
  readonly at: Date;
  readonly actor?: string;
  readonly operation: string;
  readonly changed: readonly string[];
  readonly before: Record<string, unknown>;
}

/** Reads all stored plans. */
export async function storedPlans(): Promise<Stored[]> {
  return await getModel(Plan).collection.find().sort({ _id: 1 }).toArray() as Stored[];
}

/** Reads the records of plans in the order in which they were written. */
export async function records(
  filter: object = {},
  name = "plans_history",
): Promise<StoredRecord[]> {
  const found = mongoose.connection.collection<StoredRecord>(name).find(filter as never);
  return await found.sort({ at: 1, version: 1, _id: 1 }).toArray() as StoredRecord[];
}
