import type { ClientSession, Model, mongo } from "mongoose";
import { topOf } from "../../filter/filters.ts";
import {
  applicationSession,
  sharedSession,
} from "../../schema/mongoose/statements/transaction_around.ts";
import type { StatementOptions } from "../../schema/mongoose/statements/save_by.ts";
import { inTransaction, type TransactionPart, turnsIn } from "../in_transaction.ts";
import type { TimeBudget } from "../time_budget.ts";
import { storedText } from "../values.ts";
import { type Work, writePastLock } from "../write_past_lock.ts";
import type { WrittenEntity } from "./written_entity.ts";

export type Around = (write: Work<unknown>) => Promise<void>;

export interface WrittenEntities {
  readonly change: "create" | "update" | "remove";
  readonly entities: readonly WrittenEntity[];
  readonly model: Model<unknown>;
}

/** Statements of class options in the transaction of a write, such as records of the history. */
export interface AddedStatements {
  send(written: WrittenEntities, session: ClientSession): Promise<void>;
  /** The fields whose updates need the statements, by default all. */
  readonly fields?: ReadonlySet<string> | undefined;
}

export function statementsForUpdate(
  added: AddedStatements | undefined,
  paths: readonly string[],
): AddedStatements | undefined {
  const { fields } = added ?? {};
  return fields === undefined || paths.some((path) => fields.has(topOf(path))) ? added : undefined;
}

export interface WriteContext {
  readonly model: Model<unknown>;
  readonly timeBudget: TimeBudget;
  readonly addedStatements?: AddedStatements | undefined;
  readonly session?: ClientSession | null | undefined;
  readonly part?: TransactionPart | undefined;
  readonly around?: Around | undefined;
}

interface TransactOptions extends WriteContext {
  readonly change: WrittenEntities["change"];
  /** The only written entity, for whose lock the write waits. */
  readonly id?: unknown;
  /** All writes are stored or none, as always with added statements. */
  readonly isAtomic?: boolean;
  readonly isContended?: boolean;
}

export interface Sent {
  readonly written?: readonly WrittenEntity[] | undefined;
}

export async function transact<T extends Sent>(
  options: TransactOptions,
  work: (statement: StatementOptions) => Promise<T>,
): Promise<T> {
  const { model, change, addedStatements, around = wayOf(options) } = options;
  let sent: T | undefined;
  await around(async (session, mostMS) => {
    sent = await work(statementIn(options, { session, mostMS }));
    const { written: entities } = sent;
    if (addedStatements === undefined || !entities?.length) return;
    if (session === undefined) {
      throw new TypeError("Cannot write the entities of a class together: there is no transaction");
    }
    await addedStatements.send({ change, entities, model }, session);
  });
  return sent as T;
}

function statementIn(
  { model, timeBudget, session: own }: WriteContext,
  { session, mostMS }: {
    readonly session: ClientSession | undefined;
    readonly mostMS: number | undefined;
  },
): StatementOptions {
  const used = session ?? own ?? sharedSession() ?? applicationSession();
  const options = timeBudget.statement(used, mostMS);
  const writeConcern = used ? undefined : model.schema.get("writeConcern");
  return { ...options, ...writeConcern && { writeConcern } };
}

/** The driver does not apply the option `collation` of the schema. */
export function collationOf({ schema }: Model<unknown>): mongo.CollationOptions | undefined {
  return schema.get("collation" as never);
}

export function turnOf(model: Model<unknown>, id: unknown): string {
  return `${turnsIn(model).turn}/${storedText(id)}`;
}

/** The transaction of a batch takes precedence, because the application's could store writes of an undone batch. */
function wayOf(options: TransactOptions): Around {
  const { model, change, timeBudget, addedStatements, part, id, isContended = false } = options;
  const session = options.session ?? (sharedSession() ? undefined : applicationSession());
  if (session?.inTransaction()) return async (write) => void await write(session);
  const { connection, turn } = turnsIn(model);
  const own = () => turnOf(model, id);
  if (addedStatements !== undefined || options.isAtomic) {
    // Updates of different entities seldom conflict, so each entity has its own turns. Creations share them, because
    // class options may write one document for all.
    const name = id === undefined || change === "create" ? turn : own();
    const transaction = { connection, turn: name, isContended, timeBudget, part, isRequired: true };
    return (write) => inTransaction(transaction, write);
  }
  if (session || id === undefined) return async (write) => void await write(session ?? undefined);
  return async (write) => void await writePastLock({ connection, name: own, timeBudget }, write);
}
