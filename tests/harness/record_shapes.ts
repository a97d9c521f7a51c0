import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import mongoose from "mongoose";

const { BSON } = mongoose.mongo;

/**
 * The environment variable with the name of a folder for temporary files. If it is set, the commands that tests send are
 * stored there, one of each shape. `tests/judges/shards/judge_recorded.ts` judges them.
 */
const FOLDER = process.env.MONGROVE_COMMANDS;

/** The options of a connection whose commands are recorded. */
export const RECORDED = FOLDER === undefined ? {} : { monitorCommands: true };

/** The first command of each shape. */
const shapes = new Map<string, string>();

/** Fields of commands that say nothing about their shards. */
const LEFT_OUT = ["lsid", "txnNumber", "$clusterTime", "signature", "maxTimeMS", "$db", "comment"];

/** Records the commands of a connection, if the environment asks for it. */
export function recordShapes(connection: mongoose.Connection): void {
  if (FOLDER === undefined) return;
  connection.getClient().on("commandStarted", ({ command, commandName }) => {
    if (typeof command[commandName] !== "string") return;
    const known = Object.entries(command as object).filter(([name]) => !LEFT_OUT.includes(name));
    const text = BSON.EJSON.stringify(BSON.deserialize(BSON.serialize(Object.fromEntries(known))));
    const shape = text.replaceAll(/"\$oid":"\w+"|"\$date":"[^"]*"|:-?[\d.]+|:"[^"]*"/g, "");
    if (!shapes.has(shape)) shapes.set(shape, text);
  });
}

/** The test modules of a process that runs them side by side have a list each. */
const ID = crypto.randomUUID();

/** Writes the recorded commands. */
export async function writeShapes(): Promise<void> {
  if (FOLDER === undefined || shapes.size === 0) return;
  const file = join(tmpdir(), FOLDER, `${ID}.jsonl`);
  await Deno.mkdir(join(tmpdir(), FOLDER), { recursive: true });
  await Deno.writeTextFile(file, [...shapes.values()].join("\n"));
}
