import { mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import mongoose from "mongoose";

const { BSON, MongoClient } = mongoose.mongo;

/**
 * The environment variable with the name of a folder below the folder of temporary files. If it is set, the commands
 * that tests send are stored there, one of each shape. `tests/judges/shards/judge_recorded.ts` judges them.
 */
const COMMANDS = "MONGROVE_COMMANDS";

/** The first command of each shape. */
const shapes = new Map<string, string>();

/** Fields of commands that say nothing about their shards. */
const LEFT_OUT = ["lsid", "txnNumber", "$clusterTime", "signature", "maxTimeMS", "$db", "comment"];

function record(command: Readonly<Record<string, unknown>>, name: string): void {
  if (typeof command[name] !== "string") return;
  const known = Object.entries(command).filter(([field]) => !LEFT_OUT.includes(field));
  const text = textOf(Object.fromEntries(known));
  if (text === undefined) return;
  const shape = shapeOf(text);
  if (!shapes.has(shape)) shapes.set(shape, text);
}

/** Returns the text of a command, or `undefined` for values that JavaScript cannot read back, such as half a UUID. */
function textOf(command: object): string | undefined {
  try {
    const text = BSON.EJSON.stringify(BSON.deserialize(BSON.serialize(command)));
    BSON.EJSON.parse(text);
    return text;
  } catch {
    return undefined;
  }
}

/** Returns the text of a command without its values. */
export function shapeOf(text: string): string {
  return text.replaceAll(/"\$oid":"\w+"|"\$date":"[^"]*"|:-?[\d.]+|:"[^"]*"/g, "");
}

/** Has each client of this process tell of its commands, and writes them when the process ends. */
function recordAll(folder: string): void {
  const { connect } = MongoClient.prototype;
  const told = new WeakSet<object>();
  MongoClient.prototype.connect = function () {
    if (!told.has(this)) {
      told.add(this);
      Reflect.set(this, "monitorCommands", true);
      this.on("commandStarted", ({ command, commandName }) => record(command, commandName));
    }
    return connect.call(this);
  };
  globalThis.addEventListener("unload", () => {
    if (shapes.size === 0) return;
    mkdirSync(folder, { recursive: true });
    // The test modules of a process that runs them side by side have a file each.
    const file = join(folder, `${crypto.randomUUID()}.jsonl`);
    writeFileSync(file, [...shapes.values()].join("\n"));
  });
}

const folder = process.env[COMMANDS];
if (folder !== undefined) recordAll(join(tmpdir(), folder));
