import mongoose from "mongoose";
import type { FrameworkRequest } from "../../mod.ts";

/** A hook that asks for documents. */
export function pass<E extends object>(_req: unknown, entity: E): E {
  return entity;
}

/** Makes a request read documents by an option that only they obey. */
export function asDocuments({ framework }: FrameworkRequest): boolean {
  framework.options.allowDiskUse = false;
  return true;
}

/** Creates, and updates of one entity, without hooks below `/plain` and with them below `/hooked`. */
export function writesTo(id: string) {
  return ["/plain", "/hooked"].flatMap((route) =>
    [["post", route], ["patch", `${route}/${id}`]] as const
  );
}

export interface SentCommand {
  readonly name: string;
  readonly command: Record<string, unknown>;
}

/** Connects anew, and adds every command to the list from then on. */
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
