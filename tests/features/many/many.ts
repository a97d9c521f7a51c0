import type { Connection } from "mongoose";
import type { SentCommand } from "../../support/both_paths.ts";

/** Has a command fail on the server of a connection. */
export async function failCommand(
  connection: Connection,
  failCommands: readonly string[],
  { mode = { times: 1 }, ...data }: {
    readonly mode?: object | string;
    readonly [key: string]: unknown;
  },
): Promise<void> {
  await connection.getClient().db("admin").command({
    ...{ configureFailPoint: "failCommand", mode },
    data: { failCommands, ...data },
  });
}

/** The names of commands that write or read entities. */
export function namesOf(sent: readonly SentCommand[]): string[] {
  return sent.map(({ name }) => name).filter((name) => !["hello", "listIndexes"].includes(name));
}

/** Bodies with names. */
export function named(...names: readonly string[]): { readonly name: string }[] {
  return names.map((name) => ({ name }));
}
