import mongoose from "mongoose";
import { type Command, creates, isInTransaction } from "./shard_rules.ts";

const { BSON } = mongoose.mongo;

export interface RecordedCommand {
  readonly name: string;
  readonly collection: string;
  readonly command: Command;
  /** Whether the collection existed when the command was sent. */
  readonly exists: boolean;
}

/** Records the commands that name a collection, in the order in which the driver sends them. */
export class CommandRecorder implements Disposable {
  #commands: RecordedCommand[] = [];
  readonly #known = new Set<string>();
  readonly #listen = (
    { command, commandName: name }: { command: Command; commandName: string },
  ) => {
    const collection = command[name];
    if (typeof collection !== "string") return;
    // Values such as the filters of `queryFor()` are other values in BSON.
    const sent = BSON.deserialize(BSON.serialize(command)) as Command;
    const exists = this.#known.has(collection);
    this.#commands.push({ name, collection, command: sent, exists });
    if (!isInTransaction(command) && creates(name, command)) this.#known.add(collection);
  };

  private constructor() {
    mongoose.connection.getClient().on("commandStarted", this.#listen as never);
  }

  static async start(): Promise<CommandRecorder> {
    const recorder = new CommandRecorder();
    const found = await mongoose.connection.db?.listCollections({}, { nameOnly: true }).toArray();
    for (const { name } of found ?? []) recorder.#known.add(name);
    recorder.take();
    return recorder;
  }

  /** Returns the commands since the last call. */
  take(): readonly RecordedCommand[] {
    const taken = this.#commands;
    this.#commands = [];
    return taken;
  }

  [Symbol.dispose](): void {
    mongoose.connection.getClient().off("commandStarted", this.#listen as never);
  }
}
