import type { ClientSession, Connection } from "mongoose";

const support = new WeakMap<Connection, Promise<boolean>>();

/**
 * Runs writes in one transaction where the deployment has transactions, else one after the other.
 *
 * @param writes Gets the session, `undefined` where there is no transaction. May run again after a transient failure.
 */
export async function inTransaction(
  connection: Connection,
  writes: (session?: ClientSession) => Promise<void>,
): Promise<void> {
  if (!await hasTransactions(connection)) return await writes();
  await connection.transaction((session) => writes(session));
}

/** Asks a deployment, once, whether it is a replica set or a sharded cluster. */
function hasTransactions(connection: Connection): Promise<boolean> {
  let known = support.get(connection);
  if (known === undefined) {
    known = askDeployment(connection);
    support.set(connection, known);
    known.catch(() => support.delete(connection));
  }
  return known;
}

async function askDeployment(connection: Connection): Promise<boolean> {
  const hello = await connection.db?.admin().command({ hello: 1 });
  return hello?.setName !== undefined || hello?.msg === "isdbgrid";
}
