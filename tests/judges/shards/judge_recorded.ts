/**
 * Judges the commands that tests have recorded (`tests/harness/record_shapes.ts`), as if each collection were sharded by
 * a key. It prints the number of commands by their targets, and the refused commands. `NAME` is the name of a folder
 * below the folder of temporary files:
 *
 * ```sh
 * MONGROVE_COMMANDS=NAME deno task test tests/writes tests/parts
 * deno run -A tests/judges/shards/judge_recorded.ts NAME '{"_id":"hashed"}'
 * ```
 *
 * @module
 */
import { tmpdir } from "node:os";
import { join } from "node:path";
import mongoose from "mongoose";
import { shapeOf } from "../../harness/record_shapes.ts";
import { type Command, judgeCommand, type ShardKey, VERSIONS } from "./shard_rules.ts";

const [name = "", key = '{"_id":"hashed"}'] = Deno.args;
const folder = join(tmpdir(), name);
/** The commands of all files, one of each shape. */
const shapes = new Map<string, string>();
for await (const file of Deno.readDir(folder)) {
  const text = await Deno.readTextFile(join(folder, file.name));
  for (const line of text.split("\n")) shapes.set(shapeOf(line), line);
}
for (const version of VERSIONS) {
  const counts: Record<string, number> = {};
  const refused: string[] = [];
  for (const text of shapes.values()) {
    const options = { key: JSON.parse(key) as ShardKey, version };
    const judged = judgeCommand(mongoose.mongo.BSON.EJSON.parse(text) as Command, options);
    if (judged === undefined) continue;
    counts[judged.target] = (counts[judged.target] ?? 0) + 1;
    if (judged.target === "refused") refused.push(`${judged.why}: ${text.slice(0, 300)}`);
  }
  console.log(version, JSON.stringify(counts));
  for (const each of refused.sort()) console.log(`  ${each}`);
}
