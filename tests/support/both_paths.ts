import mongoose from "mongoose";
import type { FrameworkRequest } from "../../mod.ts";

/** Passes an entity on: a hook that asks for documents. */
export function pass<E extends object>(_req: unknown, entity: E): E {
  return entity;
}

/** Has a request that nothing else keeps from it read documents: an option that only they obey. */
export function asDocuments({ framework }: FrameworkRequest): boolean {
  framework.options.allowDiskUse = false;
  return true;
}

/** The writes of a client: creates, and updates of one entity, without hooks below `/plain` and with them below `/hooked`. */
export function writesTo(id: string) {
  return ["/plain", "/hooked"].flatMap((route) =>
    [["post", route], ["patch", `${route}/${id}`]] as const
  );
}

/** A command that went to the database. */
export interface SentCommand {
  /** Its name. */
  readonly name: string;
  /** Its body. */
  readonly command: Record<string, unknown>;
}

/** Connects anew, and gives the list to which every command is added from then on. */
export async function watchCommands(uri: string): Promise<SentCommand[]> {
  const sent: SentCommand[] = [];
  await mongoose.disconnect();
  await mongoose.connect(uri, { monitorCommands: true });
  mongoose.connection.getClient().on("commandStarted", ({ commandName: name, command }) => {
    if (!["endSessions", "ping", "createIndexes", "create"].includes(name)) {
      sent.push({ name, command });
    }
  });
  return sent;
}
