import { mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import mongoose from "mongoose";

const { BSON, MongoClient } = mongoose.mongo;

/**
 * The name of a folder below the folder of temporary files. If it is set, one command of each shape is stored there for
 * `tests/judges/shards/judge_recorded.ts`.
 */
const COMMANDS = "MONGROVE_COMMANDS";

const shapes = new Map<string, string>();

/** These fields say nothing about shards. */
const LEFT_OUT = ["lsid", "txnNumber", "$clusterTime", "signature", "maxTimeMS", "$db", "comment"];

function record(command: Readonly<Record<string, unknown>>, name: string): void {
  if (typeof command[name] !== "string") return;
  const known = Object.entries(command).filter(([field]) => !LEFT_OUT.includes(field));
  const text = textOf(Object.fromEntries(known));
  if (text === undefined) return;
  const shape = shapeOf(text);
  if (!shapes.has(shape)) shapes.set(shape, text);
}

/** `undefined` for values that JavaScript cannot read back, such as half a UUID. */
function textOf(command: object): string | undefined {
  try {
    const text = BSON.EJSON.stringify(BSON.deserialize(BSON.serialize(command)));
    BSON.EJSON.parse(text);
    return text;
  } catch {
    return undefined;
  }
}

export function shapeOf(text: string): string {
  return text.replaceAll(/"\$oid":"\w+"|"\$date":"[^"]*"|:-?[\d.]+|:"[^"]*"/g, "");
}

/** Records the commands of each client of this process, and writes them when the process ends. */
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
    // Test modules that run side by side have a file each.
    const file = join(folder, `${crypto.randomUUID()}.jsonl`);
    writeFileSync(file, [...shapes.values()].join("\n"));
  });
}

const folder = process.env[COMMANDS];
if (folder !== undefined) recordAll(join(tmpdir(), folder));
