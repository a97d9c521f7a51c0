import mongoose from "mongoose";
import type { Model, mongo } from "mongoose";
import type { Entity, FrameworkModel } from "../declare/model/framework_model.ts";

/**
 * The stored fields of an entity, without the methods of the class. Any of them may be missing.
 *
 * @typeParam M The model.
 */
export type StoredValues<M extends FrameworkModel> = {
  readonly [K in keyof M as M[K] extends CallableFunction ? never : K]?: M[K];
};

/**
 * A committed change of one entity, whoever has made it. MongoDB does not know who that was: it tells what the entity holds.
 *
 * @typeParam M The model.
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
   * The same text whenever this change is delivered, and a greater one for each later change of the collection. It holds the
   * identifier of the entity.
   */
  readonly id: string;
  /** The kind of the change. */
  readonly kind: "insert" | "update" | "replace" | "remove";
  /** The identifier of the entity. */
  readonly _id: M["_id"];
  /** When it has happened, by the clock of the database. */
  readonly at: Date;
  /** The paths that an update has set, cut or removed, such as `"state"` or `"address.city"`. Empty for all other kinds. */
  readonly paths: readonly string[];
  /** The entity before the change, if the collection keeps pre-images (`changeStreamPreAndPostImages`). */
  readonly before: StoredValues<M> | undefined;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  /** Whether it comes from a dead letter: later changes of the entity may have been handled before. */
  readonly isReplay: boolean;
  /** Aborted when the attempt has taken too long, and when another process may handle this change. */
  readonly signal: AbortSignal;
  /**
   * Gives the entity as a document; `undefined` if it is removed. An update without a post-image reads what is stored now,
   * which may hold later changes.
   */
  readonly entity: () => Promise<Entity<M> | undefined>;
  /** Gives the same as `entity()`, as it is stored: no defaults, getters or methods. */
  readonly values: () => Promise<StoredValues<M> | undefined>;
}

/** The parts of an event of a change stream that are kept. */
export interface ChangeEvent {
  /** The resume token. */
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
}

const KINDS = { insert: "insert", update: "update", replace: "replace", delete: "remove" } as const;

/** Tells whether an event is about one entity. */
export function isChange({ operationType }: ChangeEvent): boolean {
  return Object.hasOwn(KINDS, operationType);
}

export function kindOf({ operationType }: ChangeEvent): Change["kind"] {
  return KINDS[operationType as keyof typeof KINDS];
}

/** When an event has happened. */
export function timeOf({ wallTime, clusterTime }: ChangeEvent): Date {
  return wallTime ?? new Date((clusterTime?.getHighBits() ?? 0) * 1000);
}

/** Returns an event without the values that an update has set: a change has their paths alone. */
export function withPathsOnly(event: ChangeEvent): ChangeEvent {
  const { updatedFields } = event.updateDescription ?? {};
  if (updatedFields === undefined) return event;
  const paths = Object.fromEntries(Object.keys(updatedFields).map((path) => [path, true]));
  return { ...event, updateDescription: { ...event.updateDescription, updatedFields: paths } };
}

/** Returns an event without images of its entity. */
export function withoutImages(event: ChangeEvent): ChangeEvent {
  const { fullDocument: _after, fullDocumentBeforeChange: _before, ...rest } = event;
  return rest;
}

/** Returns the parts of an event that tell which change it is. */
export function withoutValues(event: ChangeEvent): ChangeEvent {
  const { updateDescription: _paths, ...rest } = withoutImages(event);
  return rest;
}

/** Returns the size of an event, in bytes. */
export function sizeOf(event: ChangeEvent): number {
  return mongoose.mongo.BSON.calculateObjectSize(event);
}

/** A text that stands for the entity of an event. */
export function keyOf({ documentKey }: ChangeEvent): string {
  return mongoose.mongo.BSON.EJSON.stringify(documentKey?._id, { relaxed: false });
}

export interface Attempt extends Pick<Change, "attempt" | "isReplay" | "signal"> {}

/** Makes what a handler gets of an event. */
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
    kind: kindOf(event),
    _id: event.documentKey?._id as M["_id"],
    at: timeOf(event),
    paths: [
      ...Object.keys(updatedFields),
      ...removedFields,
      ...truncatedArrays.map(({ field }) => field),
    ],
    before: (event.fullDocumentBeforeChange ?? undefined) as StoredValues<M> | undefined,
    values,
    entity: async () => {
      const stored = await values();
      return stored && model.hydrate(stored) as unknown as Entity<M>;
    },
  };
}

/** Gives what is stored after a change. Without a post-image that is read, no older than the change. */
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
