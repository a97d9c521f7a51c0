import mongoose from "mongoose";
import {
  action,
  all,
  arrayProp,
  create,
  type Entity,
  FrameworkModel,
  getModel,
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

class Task extends FrameworkModel {
  @prop({ required: true })
  title!: string;
}

@rest({ route: "/countries", methods: [all(), one(), create()], tenant: false })
export class Country extends FrameworkModel {
  @prop({ required: true, unique: true })
  name!: string;
}

@rest({
  route: "/notes",
  methods: [all(), one(), create(), update(), remove()],
  tenant: "company",
})
export class Note extends FrameworkModel {
  @prop({ required: true, readonly: true })
  readonly company!: ReadOnly<string>;
  @prop({ required: true })
  text!: string;
}

@rest({
  route: "/projects",
  methods: [
    all({
      page: { size: 20, max: 50 },
      sort: ["name", "hours"],
      search: ["name"],
      count: { always: true },
      groups: { by: ["state"], sum: ["hours"] },
      populate: { notes: {}, country: {}, next: {} },
      live: true,
    }),
    one({ populate: { notes: {} } }),
    create({ many: 10, formats: ["ndjson"], idempotency: { keep: "1h" } }),
    update(),
    updateAll({ fields: ["state"] }),
    replace(),
    remove(),
    removeAll(),
    action("shout", {
      on: "one",
      run: async (_req, project: Entity<Project>) => {
        project.name = project.name.toUpperCase();
        return await project.save();
      },
    }),
  ],
  tenant: "company",
  history: true,
})
@rest({
  route: "/keyed",
  methods: [one({ postFetch: (_req, project) => project }), replace({ by: "code" })],
  tenant: "company",
  history: true,
})
@rest({
  route: "/hooked",
  methods: [
    create({ preSave: (_req, project) => project }),
    update({ preSave: (_req, project) => project }),
    remove({ preSave: (_req, project) => project }),
    removeAll({ preSave: (_req, project) => project }),
    updateAll({ fields: ["state"], preSave: (_req, project) => project }),
  ],
  tenant: "company",
  history: true,
  main: true,
})
export class Project extends FrameworkModel {
  @prop({ type: mongoose.Types.ObjectId, required: true, readonly: true })
  readonly company!: ReadOnly<mongoose.Types.ObjectId>;
  @prop({ required: true })
  name!: string;
  @prop({ unique: true, sparse: true })
  code?: string;
  @prop({ unique: { global: true }, sparse: true })
  domain?: string;
  @prop({ default: "open", enum: ["open", "done"] })
  state!: string;
  @prop({ type: Number })
  hours?: number;
  @prop({ ref: () => Country, exists: true })
  country?: Ref<Country>;
  @prop({ ref: () => Project, exists: true })
  next?: Ref<Project>;
  @rest({ methods: [all(), one(), create(), update(), remove()] })
  @arrayProp({ items: Task, embedded: true, apart: false })
  tasks!: Task[];
  @rest({ methods: [all(), one(), create(), update(), remove(), removeAll()] })
  @arrayProp({ items: () => Note, exists: true })
  notes!: Ref<Note>[];
}

/** The identifiers of two companies. */
export const ACME = "aaaaaaaaaaaaaaaaaaaaaaaa";
export const BELL = "bbbbbbbbbbbbbbbbbbbbbbbb";

/** The options of a request of a company. */
export const of = (company: string) => ({ headers: { "x-company": company } });

/** Serves the models. The header `x-company` has the tenant of a request. */
export async function serveCompanies(options: MountOptions = {}): Promise<Mounted> {
  const app = await mountOnReplicaSet([Project, Note, Country], {
    tenant: (req) => req.headers["x-company"] as string | undefined,
    ...options,
  });
  await getModel(Project).init();
  return app;
}
