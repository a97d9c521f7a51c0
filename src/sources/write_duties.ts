import type { ClientSession, Document, Model } from "mongoose";
import { inTransaction, type TransactionOptions } from "../database/in_transaction.ts";
import type { Together } from "../write/save_document.ts";

/**
 * The entities that one statement has written, for class options that send further statements, such as an entry of an
 * audit log.
 */
export interface WrittenEntities {
  readonly change: "create" | "update" | "remove";
  readonly ids: readonly unknown[];
  readonly model: Model<unknown>;
}

/**
 * The work that class options add to each write of an entity, such as the name of the writer or an entry of an audit
 * log.
 */
export interface WriteDuties {
  /** Sets values on a document before the document is validated and saved. */
  stamp(doc: Document): void;
  /**
   * Sends further statements in the transaction of a write. Missing if no class option has such statements, so that a
   * write needs no transaction.
   */
  readonly together?:
    | ((written: WrittenEntities, session: ClientSession) => Promise<void>)
    | undefined;
}

/**
 * Returns a function that runs a write and the further statements of class options in one transaction, so that both are
 * stored or none. The argument `together` is a function that already runs the write in a transaction, such as with a
 * write of the parent.
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
