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

/**
 * The entities that one statement has written, for class options that send further statements, such as an entry of an
 * audit log.
 */
export interface WrittenEntities {
  readonly change: "create" | "update" | "remove";
  readonly entities: readonly WrittenEntity[];
  readonly model: Model<unknown>;
}

/**
 * The values that class options store with a write, cast to the types of their fields. The value `undefined` removes a
 * field.
 */
export type Stamps = Readonly<Record<string, unknown>>;

/**
 * A class, and the schema by which a connection writes its entities. The values of class options are cast by this
 * schema.
 */
export interface StampedClass {
  readonly target: ModelClass;
  readonly schema: Schema;
}

/**
 * The work that class options add to each write of an entity, such as the name of the writer or an entry of an audit
 * log.
 */
export interface WriteDuties {
  readonly target: ModelClass;
  /**
   * Returns the values that class options store with a write of an entity of a class, such as the name of the writer.
   */
  stamps(written: StampedClass, isNew: boolean): Stamps;
  /** Returns the names of the fields of a class in which class options store values. */
  stamped(target: ModelClass): readonly string[];
  /**
   * Returns the values to store in the place of a removal, such as the time of the removal for the trash. Missing if a
   * removal removes the entity from the database.
   */
  readonly removal?: () => Stamps;
  /**
   * Sends the statements that class options add to a write, such as an entry of an audit log, in the transaction of the
   * write. Missing if class options add no statements, so that a write needs no transaction.
   */
  readonly together?:
    | ((written: WrittenEntities, session: ClientSession) => Promise<void>)
    | undefined;
  /**
   * The names of the fields whose updates need statements of class options, such as a record of the history. Missing if
   * every update needs them.
   */
  readonly joinedFields?: ReadonlySet<string> | undefined;
}

/**
 * Whether class options add statements, such as an entry of an audit log, to an update of the given fields or paths.
 */
export function joinsUpdate(
  { together, joinedFields }: Pick<WriteDuties, "together" | "joinedFields">,
  paths: readonly string[],
): boolean {
  if (together === undefined) return false;
  return joinedFields === undefined || paths.some((path) => joinedFields.has(topOf(path)));
}

/**
 * Returns the function that sends the statements which class options add to a change. Returns `undefined` if there are
 * no such statements.
 */
export function togetherFor(
  duties: WriteDuties | undefined,
  { operation, body = {} }: Pick<Change, "operation" | "body">,
): WriteDuties["together"] {
  const isUpdate = operation === "update" || operation === "updateAll";
  if (duties === undefined || isUpdate && !joinsUpdate(duties, Object.keys(body))) return undefined;
  return duties.together;
}

/**
 * Returns a function that returns the values which class options store with a write, such as the name of the writer. A
 * new entity can get other values than an updated one. Returns `undefined` if the class has no such options.
 */
export function stampsFor(
  duties: WriteDuties | undefined,
  { schema }: Model<unknown>,
): ((isNew: boolean) => Stamps) | undefined {
  return duties &&
    ((isNew) => duties.stamps({ target: duties.target, schema: schema as Schema }, isNew));
}

/**
 * Returns a function that runs a write, and the statements that class options add to it, in one transaction, so that
 * all of them are stored or none. The argument `together` is a function that already runs the write in a transaction,
 * such as with a write of the parent.
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

/** Returns the fields for `$set` and `$unset` in an update that stores the values of class options. */
export function operatorsFor(
  stamps: Stamps = {},
): { readonly set: Record<string, unknown>; readonly unset: Record<string, unknown> } {
  const all = Object.entries(stamps);
  const set = all.filter(([, value]) => value !== undefined);
  const unset = all.filter(([, value]) => value === undefined).map(([name]) => [name, 1]);
  return { set: Object.fromEntries(set), unset: Object.fromEntries(unset) };
}

/**
 * A write of Mongoose documents, such as a creation, whose transaction may contain further statements of class options.
 */
export interface BoundWrite extends Pick<WrittenEntities, "change"> {
  /**
   * The function by which the caller runs the write in a transaction with a write of the parent. The statements of
   * class options join this transaction. Missing if the write belongs to no such transaction.
   */
  readonly together?: Together | undefined;
}

interface BoundOptions {
  readonly duties: WriteDuties | undefined;
  readonly timeBudget: TimeBudget;
  readonly part?: TransactionPart | undefined;
}

/**
 * Returns a function that runs the write of documents, and the statements that class options add to it, in one
 * transaction.
 */
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
  // conflict, so each entity has a separate turn. Other writes share the turn of the collection, because class options
  // may add statements to creations and removals that write one document for all entities of the collection.
  const own = docs.length === 1 && change !== "create" ? `${turn}/${first._id}` : turn;
  const transaction = { connection, turn: own, timeBudget, part };
  const joined = withDuties(duties, { ...transaction, written, together, session });
  // The changed fields decide whether class options add statements to an update. Middleware of the application may
  // change further fields until the update is sent, so the fields are compared when the write runs.
  const isJoined = () =>
    change !== "update" || docs.some((doc) => joinsUpdate(duties, doc.modifiedPaths()));
  return async (write) => await (isJoined() ? joined : plain)(write);
}

/**
 * Returns a function that runs a removal by identifiers, and the statements that class options add to the removal, in
 * one transaction. If class options add no statements, returns `together`, by which the caller may already run the
 * removal with other writes.
 */
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
