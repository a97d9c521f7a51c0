import type { ClientSession, Document, Model, Schema } from "mongoose";
import {
  inTransaction,
  type TransactionOptions,
  type TransactionPart,
  turnsIn,
} from "../database/in_transaction.ts";
import type { TimeBudget } from "../database/time_budget.ts";
import { writerOf } from "../database/write_past_lock.ts";
import type { ModelClass } from "../declare/model/framework_model.ts";
import { topOf } from "../filter/filters.ts";
import { applicationSession } from "../schema/mongoose/statements/transaction_around.ts";
import type { Together } from "../write/save_document.ts";
import type { WrittenEntity } from "../write/written_entity.ts";
import type { Change } from "./source.ts";

export interface WrittenEntities {
  readonly change: "create" | "update" | "remove";
  readonly entities: readonly WrittenEntity[];
  readonly model: Model<unknown>;
}

/** Cast to the types of the fields. The value `undefined` removes a field. */
export type Stamps = Readonly<Record<string, unknown>>;

/** The values of class options are cast by `schema`. */
export interface StampedClass {
  readonly target: ModelClass;
  readonly schema: Schema;
}

/** The work that class options add to each write of an entity. */
export interface WriteDuties {
  readonly target: ModelClass;
  /** The values that class options store with a write. */
  stamps(written: StampedClass, isNew: boolean): Stamps;
  stamped(target: ModelClass): readonly string[];
  /** The values to store in the place of a removal. Missing if a removal removes the entity from the database. */
  readonly removal?: () => Stamps;
  /**
   * Sends statements in the transaction of the write. Missing if class options add none, so that a write needs no
   * transaction.
   */
  readonly together?:
    | ((written: WrittenEntities, session: ClientSession) => Promise<void>)
    | undefined;
  /** The fields whose updates need statements of class options. Missing if every update needs them. */
  readonly joinedFields?: ReadonlySet<string> | undefined;
}

/** Whether class options add statements to an update of the given fields or paths. */
export function joinsUpdate(
  { together, joinedFields }: Pick<WriteDuties, "together" | "joinedFields">,
  paths: readonly string[],
): boolean {
  if (together === undefined) return false;
  return joinedFields === undefined || paths.some((path) => joinedFields.has(topOf(path)));
}

/** The function that sends the statements of class options. */
export function togetherFor(
  duties: WriteDuties | undefined,
  { operation, body = {} }: Pick<Change, "operation" | "body">,
): WriteDuties["together"] {
  const isUpdate = operation === "update" || operation === "updateAll";
  if (duties === undefined || isUpdate && !joinsUpdate(duties, Object.keys(body))) return undefined;
  return duties.together;
}

/** A new entity can get other values than an updated one. */
export function stampsFor(
  duties: WriteDuties | undefined,
  { schema }: Model<unknown>,
): ((isNew: boolean) => Stamps) | undefined {
  return duties &&
    ((isNew) => duties.stamps({ target: duties.target, schema: schema as Schema }, isNew));
}

/**
 * The write and the statements of class options are all stored or none. `together` already runs the write in a
 * transaction.
 */
function withDuties(
  { together: duty }: Pick<WriteDuties, "together">,
  { written, together, session: own, ...transaction }: TransactionOptions & {
    readonly written: Omit<WrittenEntities, "entities">;
    readonly together: Together | undefined;
    /** The session of a transaction that a hook or the application has begun. */
    readonly session: ClientSession | undefined;
  },
): Together {
  const inside: Together = own?.inTransaction()
    ? async (write) => void await write(own)
    : (write) => inTransaction({ ...transaction, isRequired: true }, write);
  const run = together ?? inside;
  return (write) =>
    run(async (session) => {
      const entities = await write(session);
      if (session === undefined) {
        throw new TypeError(
          "Cannot write the entities of a class together: there is no transaction",
        );
      }
      if (entities !== undefined) await duty?.({ ...written, entities }, session);
      return entities;
    });
}

/** The values for `$set` and `$unset`. */
export function operatorsFor(
  stamps: Stamps = {},
): { readonly set: Record<string, unknown>; readonly unset: Record<string, unknown> } {
  const all = Object.entries(stamps);
  const set = all.filter(([, value]) => value !== undefined);
  const unset = all.filter(([, value]) => value === undefined).map(([name]) => [name, 1]);
  return { set: Object.fromEntries(set), unset: Object.fromEntries(unset) };
}

/** A write of Mongoose documents. */
export interface BoundWrite extends Pick<WrittenEntities, "change"> {
  /**
   * Runs the write in a transaction with a write of the parent. The statements of class options join this transaction.
   */
  readonly together?: Together | undefined;
}

interface BoundOptions {
  readonly duties: WriteDuties | undefined;
  readonly timeBudget: TimeBudget;
  readonly part?: TransactionPart | undefined;
}

export function boundWriter(
  docs: readonly Document[],
  { change, together, duties, timeBudget, part }: BoundWrite & BoundOptions,
): Together {
  const [first] = docs;
  const plain = together ?? writerOf(docs, { timeBudget, part });
  if (duties?.together === undefined || first === undefined) return plain;
  const model = first.constructor as Model<unknown>;
  const session = first.$session() ?? applicationSession();
  const written = { change, model };
  const { connection, turn } = turnsIn(first);
  // After a conflict, transactions with the same turn run one after the other. Updates of different entities seldom
  // conflict, but class options may write one document for all creations and removals of a collection.
  const own = docs.length === 1 && change !== "create" ? `${turn}/${first._id}` : turn;
  const transaction = { connection, turn: own, timeBudget, part };
  const joined = withDuties(duties, { ...transaction, written, together, session });
  // Middleware of the application may change further fields until the update is sent, so the fields are compared when
  // the write runs.
  const isJoined = () =>
    change !== "update" || docs.some((doc) => joinsUpdate(duties, doc.modifiedPaths()));
  return async (write) => await (isJoined() ? joined : plain)(write);
}

/** Without statements of class options, returns `together`. */
export function boundRemoval(
  model: Model<unknown>,
  { ids = [], together, duties, timeBudget }: BoundOptions & {
    readonly ids?: readonly unknown[];
    readonly together?: Together;
  },
): Together | undefined {
  if (duties?.together === undefined || ids.length === 0) return together;
  const written = { change: "remove", model } as const;
  const transaction = { ...turnsIn(model as never), timeBudget };
  return withDuties(duties, { ...transaction, written, together, session: applicationSession() });
}
