import mongoose from "mongoose";
import type { Model, mongo } from "mongoose";
import type { Entity, FrameworkModel } from "../declare/model/framework_model.ts";

/** The stored fields of an entity, without methods. Any field may be missing. */
export type StoredValues<M extends FrameworkModel> = {
  readonly [K in keyof M as M[K] extends CallableFunction ? never : K]?: M[K];
};

/**
 * A committed change of one entity, made by any program. MongoDB does not record the author.
 *
 * @example Handle removals, and updates of one field
 * ```ts
 * import { FrameworkModel, prop } from "@mongrove/mongrove";
 * import type { Change } from "@mongrove/mongrove/changes";
 *
 * class Ticket extends FrameworkModel {
 *   @prop({ default: "open" })
 *   state!: string;
 * }
 *
 * export async function tellState({ kind, _id, paths, values }: Change<Ticket>): Promise<void> {
 *   if (kind === "remove") console.log(`${_id} is gone`);
 *   else if (paths.includes("state")) console.log(`${_id} is ${(await values())?.state}`);
 * }
 * ```
 */
export interface Change<M extends FrameworkModel = FrameworkModel> {
  /**
   * The identifier of the change, which is the same in each delivery and a greater string for each later change of the
   * collection. It contains the identifier of the entity.
   */
  readonly id: string;
  /** The operation that has changed the entity. `"remove"` stands for the event `delete` of MongoDB. */
  readonly kind: "insert" | "update" | "replace" | "remove";
  /** The identifier of the entity, in its stored type. */
  readonly _id: M["_id"];
  /** The time of the change, by the clock of the database. */
  readonly at: Date;
  /**
   * The paths that an update has set, truncated or removed, such as `"address.city"`. Empty for any other operation.
   */
  readonly paths: readonly string[];
  /** The entity before the change, if the option `changeStreamPreAndPostImages` of the collection is enabled. */
  readonly before: StoredValues<M> | undefined;
  /**
   * The data that the change lacks, because MongoDB cannot send or store more than 16 MB at once, or no longer has the
   * event. With `"images"`, `before` is absent and `values()` reads the current entity. With `"paths"`, the `paths` of
   * an update are empty.
   */
  readonly missing: readonly ("images" | "paths")[];
  /** The number of the attempt to handle the change. A replay and another process begin at 1 again. */
  readonly attempt: number;
  /** Whether the change comes from a dead letter, so that later changes of the entity may have been handled. */
  readonly isReplay: boolean;
  /** Is aborted when the attempt takes too long, and when another process may handle the change. */
  readonly signal: AbortSignal;
  /**
   * Returns the document, or `undefined` if the entity is removed. Without a post-image, this is the current entity,
   * which may have later changes.
   */
  readonly entity: () => Promise<Entity<M> | undefined>;
  /**
   * Returns the stored entity, or `undefined` if it is removed. The object has no defaults, getters and methods, and
   * its JSON shows hidden fields.
   */
  readonly values: () => Promise<StoredValues<M> | undefined>;
}

export interface ChangeEvent {
  readonly _id: { readonly _data: string };
  readonly operationType: string;
  readonly documentKey?: { readonly _id: unknown };
  readonly clusterTime?: mongo.Timestamp;
  readonly wallTime?: Date;
  readonly updateDescription?: {
    readonly updatedFields?: object;
    readonly removedFields?: readonly string[];
    readonly truncatedArrays?: readonly { readonly field: string }[];
  };
  readonly fullDocument?: object | null;
  readonly fullDocumentBeforeChange?: object | null;
  readonly missing?: Change["missing"];
}

const KINDS = { insert: "insert", update: "update", replace: "replace", delete: "remove" } as const;

/** Events such as the drop of the collection are no change of an entity. */
export function isChange({ operationType }: ChangeEvent): boolean {
  return Object.hasOwn(KINDS, operationType);
}

export function changeKind({ operationType }: ChangeEvent): Change["kind"] {
  return KINDS[operationType as keyof typeof KINDS];
}

/** Without `wallTime`, which servers before 6.0 do not send, the time is exact to the second only. */
export function timeOf({ wallTime, clusterTime }: ChangeEvent): Date {
  return wallTime ?? new Date((clusterTime?.getHighBits() ?? 0) * 1000);
}

/** Removes the new values of an update, because handlers get only the paths. */
export function withPathsOnly(event: ChangeEvent): ChangeEvent {
  const { updatedFields } = event.updateDescription ?? {};
  if (updatedFields === undefined) return event;
  const paths = Object.fromEntries(Object.keys(updatedFields).map((path) => [path, true]));
  return { ...event, updateDescription: { ...event.updateDescription, updatedFields: paths } };
}

/** Only updates have paths that can be missing. */
export function lacking(event: ChangeEvent, parts: Change["missing"] = []): ChangeEvent {
  const all = new Set([...event.missing ?? [], ...parts]);
  if (event.operationType !== "update") all.delete("paths");
  return all.size === 0 ? event : { ...event, missing: [...all] };
}

export function withoutImages(event: ChangeEvent): ChangeEvent {
  const { fullDocument: after, fullDocumentBeforeChange: before, ...rest } = event;
  return lacking(rest, after || before ? ["images"] : []);
}

/** Removes the values of a change, which the follower can read again. */
export function withoutValues(event: ChangeEvent): ChangeEvent {
  const { updateDescription: paths, ...rest } = withoutImages(event);
  return lacking(rest, paths ? ["paths"] : []);
}

export function sizeOf(event: ChangeEvent): number {
  return mongoose.mongo.BSON.calculateObjectSize(event);
}

/** Changes with the same key are handled in order. */
export function changeKey({ documentKey }: ChangeEvent): string {
  return mongoose.mongo.BSON.EJSON.stringify(documentKey?._id, { relaxed: false });
}

export interface Attempt extends Pick<Change, "attempt" | "isReplay" | "signal"> {}

export function toChange<M extends FrameworkModel>(
  event: ChangeEvent,
  { model, attempt }: { readonly model: Model<unknown>; readonly attempt: Attempt },
): Change<M> {
  const { updatedFields = {}, removedFields = [], truncatedArrays = [] } =
    event.updateDescription ?? {};
  const values = () => storedAfter(event, model) as Promise<StoredValues<M> | undefined>;
  return {
    ...attempt,
    id: event._id._data,
    kind: changeKind(event),
    _id: event.documentKey?._id as M["_id"],
    at: timeOf(event),
    paths: [
      ...Object.keys(updatedFields),
      ...removedFields,
      ...truncatedArrays.map(({ field }) => field),
    ],
    before: (event.fullDocumentBeforeChange ?? undefined) as StoredValues<M> | undefined,
    missing: event.missing ?? [],
    values,
    entity: async () => {
      const stored = await values();
      return stored && model.hydrate(stored) as unknown as Entity<M>;
    },
  };
}

/**
 * Without a post-image, the current entity is read. The read waits for the time of the change, so the entity is never
 * older.
 */
async function storedAfter(
  { operationType, fullDocument, documentKey, clusterTime }: ChangeEvent,
  { db, collection }: Model<unknown>,
): Promise<object | undefined> {
  if (operationType === "delete") return undefined;
  if (fullDocument) return fullDocument;
  const session = await db.startSession();
  try {
    if (clusterTime) session.advanceOperationTime(clusterTime);
    const options = { session, readConcern: "majority", readPreference: "primary" } as const;
    return await collection.findOne({ _id: documentKey?._id } as object, options) ?? undefined;
  } finally {
    await session.endSession();
  }
}
