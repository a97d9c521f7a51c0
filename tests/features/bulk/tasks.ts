import type { Model } from "mongoose";
import {
  all,
  arrayProp,
  FrameworkModel,
  getModel,
  type HooksOf,
  type ModelClass,
  one,
  prop,
  rest,
  type RestOptions,
  updateAll,
} from "../../../mod.ts";
import { pass } from "../../support/both_paths.ts";
import { asQuery, type Mounted } from "../../support/support.ts";

/** Where a task is. */
export class Place extends FrameworkModel {
  /** A town. */
  @prop({ required: true })
  town!: string;
  /** A room. */
  @prop()
  room?: string;
}

/** What many are changed of at once. */
export class Task extends FrameworkModel {
  /** Its name. */
  @prop({ required: true })
  title!: string;
  /** How far it is. */
  @prop({ required: true, enum: ["open", "done", "late"], default: "open" })
  state!: string;
  /** Its rank. */
  @prop({ type: Number, min: 0 })
  rank?: number;
  /** Its labels. */
  @arrayProp({ items: String, lowercase: true })
  tags?: string[];
  /** A name that no other one has. */
  @prop({ unique: true, sparse: true })
  slug?: string;
  /** Whose it is. */
  @prop()
  owner?: string;
  /** A secret. */
  @prop({ hidden: true })
  secret?: string;
  /** A text with a default. */
  @prop({ default: "none" })
  note?: string;
  /** A time. */
  @prop({ type: Date })
  due?: Date;
  /** An object. */
  @prop({ type: Place })
  place?: Place;
  /** Any object. */
  @prop({ type: Object })
  free?: object;
}

/** The fields that tests set. */
export const FIELDS = [
  ...["title", "state", "rank", "tags", "slug", "owner", "secret", "note", "due", "place", "free"],
] as const;

/** Makes a model of tasks: those of `/tasks` are changed without documents, those of `/hooked` with them. */
export function taskModel(
  options: HooksOf<Task> = {},
  rests: Partial<Pick<RestOptions, "scope" | "getConnection">> = {},
  Base = Task,
): ModelClass<Task> {
  const fields = FIELDS as never;
  @rest({
    route: "/tasks",
    methods: [all(), one(), updateAll<Task>({ ...options, fields })],
    ...rests,
  })
  @rest({
    route: "/hooked",
    methods: [updateAll<Task>({ preSave: pass, ...options, fields })],
    ...rests,
  })
  class Stored extends Base {
    static override schemaOptions = { timestamps: true, collection: "tasks" };
  }
  return Stored;
}

/** Both routes of {@linkcode taskModel}. */
export const BOTH = ["/tasks", "/hooked"] as const;

/** Stores tasks as they are given, and nothing else. */
export async function store(model: ModelClass<Task>, tasks: readonly object[]): Promise<void> {
  const { collection } = getModel(model) as unknown as Model<Task>;
  await collection.deleteMany({});
  await getModel(model).init();
  if (tasks.length > 0) await collection.insertMany(tasks.map((each) => ({ __v: 0, ...each })));
}

/** Stores so many tasks, with their ranks from 0 on. */
export function storeMany(
  model: ModelClass<Task>,
  count: number,
  more: object = {},
): Promise<void> {
  const tasks = Array.from(
    { length: count },
    (_, rank) => ({ title: `t${rank}`, state: "open", rank, ...more }),
  );
  return store(model, tasks);
}

/** One field of all tasks, by rank. */
export async function valuesOf(model: ModelClass<Task>, field: string): Promise<unknown[]> {
  const { collection } = getModel(model) as unknown as Model<Task>;
  const found = await collection.find({}, { sort: { rank: 1, title: 1 } }).toArray();
  return found.map((each) => each[field]);
}

/** How many entities an answer tells of. */
export interface Counts {
  /** Those that were selected. */
  readonly matched: number;
  /** Those that were written. */
  readonly modified: number;
}

/** Changes all tasks that a filter selects. */
export function change(app: Mounted, { route = "/tasks", filter = {}, body, headers = {} }: {
  readonly route?: string;
  readonly filter?: object;
  readonly body: unknown;
  readonly headers?: Record<string, string>;
}) {
  return app.patch<Counts & { readonly message?: string }>(`${route}${asQuery(filter)}`, body, {
    headers,
  });
}
