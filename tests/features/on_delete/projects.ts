import mongoose from "mongoose";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  type ModelClass,
  one,
  prop,
  type Ref,
  remove,
  removeAll,
  rest,
  update,
} from "../../../mod.ts";
import { sharedReplicaSet } from "../../support/shared_replica_set.ts";
import { type ErrorBody, mount, type Mounted, type MountOptions } from "../../support/support.ts";

const trash = { see: (req: FrameworkRequest) => req.headers["x-user"] === "keeper" };

@rest({
  route: "/people",
  methods: [all({ live: true }), one(), create(), update(), remove(), removeAll()],
  history: true,
})
@rest({
  route: "/hooked",
  methods: [
    one(),
    remove({ preSave: (_req, person) => person }),
    removeAll({ postFetch: (_req, person) => person }),
  ],
  history: true,
})
export class Person extends FrameworkModel {
  @prop({ required: true })
  name!: string;
}

@rest({ route: "/tags", methods: [all(), one(), create(), update(), remove(), removeAll()] })
export class Tag extends FrameworkModel {
  @prop()
  name?: string;
}

@rest({
  route: "/projects",
  methods: [all(), one(), create(), update(), remove(), removeAll()],
  trash,
})
export class Project extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ ref: () => Person, onDelete: "restrict" })
  owner?: Ref<Person>;
}

export class Line extends FrameworkModel {
  @prop({ ref: () => Tag, onDelete: "unset" })
  tag?: Ref<Tag>;
  @arrayProp({ items: () => Tag, onDelete: "unset" })
  others!: Ref<Tag>[];
  @prop({ stamp: "updatedBy" })
  readonly by?: string;
}

/** The calls of the hooks of tasks, which must not run for a cascade. */
export const hookCalls: string[] = [];

@rest({
  route: "/tasks",
  methods: [
    all(),
    one(),
    create(),
    update(),
    remove({
      preSave: (_req, task) => {
        hookCalls.push("remove");
        return task;
      },
    }),
  ],
  trash,
  history: true,
})
export class Task extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ ref: () => Project, onDelete: "cascade" })
  project?: Ref<Project>;
  @prop({ ref: () => Tag, onDelete: "unset" })
  main?: Ref<Tag>;
  @arrayProp({ items: () => Tag, onDelete: "unset" })
  tags!: Ref<Tag>[];
  @rest({ methods: [all(), create(), update(), remove()] })
  @arrayProp({ items: Line, embedded: true, apart: false })
  lines!: Line[];
  @prop({ type: Line, apart: false })
  line?: Line;
  @prop({ stamp: "updatedBy" })
  readonly changedBy?: string;
}

@rest({ route: "/notes", methods: [all(), one(), create(), remove()] })
export class Note extends FrameworkModel {
  @prop({ ref: () => Task, onDelete: { cascade: "forGood" } })
  task?: Ref<Task>;
}

/** A class of which no route shows an entity. */
@rest({ route: "/secrets", methods: [create()] })
export class Secret extends FrameworkModel {
  @prop({ ref: () => Person, onDelete: "restrict" })
  about?: Ref<Person>;
}

@rest({ route: "/teams", methods: [all(), one(), create(), update(), remove()] })
export class Team extends FrameworkModel {
  @rest({ methods: [all(), one(), create(), remove(), removeAll()] })
  @arrayProp({ items: () => Person, onDelete: "restrict" })
  members!: Ref<Person>[];
  @rest({ methods: [one(), create(), remove()] })
  @prop({ ref: () => Person, onDelete: "restrict" })
  lead?: Ref<Person>;
}

export const MODELS: readonly ModelClass[] = [Person, Tag, Project, Task, Note, Secret, Team];

/** Serves classes on a replica set. The header `x-user` has the sender of a request. */
export async function serveAll(
  models: readonly ModelClass[] = MODELS,
  options: MountOptions = {},
): Promise<Mounted> {
  const app = await mount(models, {
    mongo: await sharedReplicaSet(),
    actor: (req) => req.headers["x-user"] as string | undefined,
    ...options,
  });
  for (const model of models) await getModel(model).init();
  return app;
}

/** The options of a request of a user. */
export const as = (user: string) => ({ headers: { "x-user": user } });

/** The options of a request of the keeper, who sees the trash. */
export const KEEPER = as("keeper");

/** The body of a refused removal or restore. */
export interface Refused extends ErrorBody {
  readonly referredBy?: readonly string[];
  readonly limit?: number;
  readonly property?: string;
}

type Stored = Record<string, unknown>;

/** Reads a stored entity. */
export async function storedOf(model: ModelClass, id: unknown): Promise<Stored | null> {
  const _id = new mongoose.Types.ObjectId(String(id));
  return await getModel(model).collection.findOne({ _id });
}

/** Returns the number of stored entities of a class that match a filter. */
export async function countOf(model: ModelClass, filter: object = {}): Promise<number> {
  return await getModel(model).collection.countDocuments(filter);
}

/** Reads the records of the history of an entity, the oldest first. */
export async function recordsOf(model: ModelClass, id: unknown): Promise<Stored[]> {
  const { db, collection } = getModel(model);
  const entity = new mongoose.Types.ObjectId(String(id));
  return await db.collection(`${collection.name}_history`).find({ entity }).sort({ version: 1 })
    .toArray();
}
