import type { ClientSession, Document, Model } from "mongoose";
import { inTransaction, type TransactionOptions } from "../database/in_transaction.ts";
import type { Together } from "../write/save_document.ts";

/** The entities of one statement, as features of their class get them after the statement. */
export interface WrittenEntities {
  readonly change: "create" | "update" | "remove";
  readonly ids: readonly unknown[];
  readonly model: Model<unknown>;
}

/** The work that features of a class add to each write of its entities. */
export interface WriteDuties {
  /** Sets values on a document before the document is validated and saved. */
  stamp(doc: Document): void;
  /**
   * Sends further statements in the transaction of a write. Missing if no feature of the class has such statements, so
   * that a write needs no transaction.
   */
  readonly together?:
    | ((written: WrittenEntities, session: ClientSession) => Promise<void>)
    | undefined;
}

/**
 * Returns a function that runs a write and the duties of its class in one transaction. `together` may be the function
 * that runs the write with other writes, such as a write of the parent.
 */
export function withDuties(
  { together: duty }: Pick<WriteDuties, "together">,
  { written, together, session: own, ...transaction }: TransactionOptions & {
    readonly written: WrittenEntities;
    readonly together: Together | undefined;
    /** The session of a transaction that a hook has begun. */
    readonly session: ClientSession | undefined;
  },
): Together {
  const inside: Together = own?.inTransaction()
    ? (write) => write(own)
    : (write) => inTransaction({ ...transaction, isRequired: true }, write);
  const run = together ?? inside;
  return (write) =>
    run(async (session) => {
      await write(session);
      if (session === undefined) {
        throw new TypeError(
          "Cannot write the entities of a class together: there is no transaction",
        );
      }
      await duty?.(written, session);
    });
}
