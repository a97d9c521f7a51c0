/**
 * Judges the commands that tests have recorded (`tests/harness/record_shapes.ts`), as if each collection were sharded by
 * a key. It prints the number of the commands by their targets, and the refused ones:
 *
 * ```sh
 * MONGROVE_COMMANDS=commands deno task test tests/writes tests/parts
 * deno run -A tests/judges/shards/judge_recorded.ts /tmp/commands '{"_id":"hashed"}'
 * ```
 *
 * @module
 */
import { join } from "node:path";
import mongoose from "mongoose";
import { type Command, judgeCommand, type ShardKey, VERSIONS } from "./shard_rules.ts";

const [folder = "", key = '{"_id":"hashed"}'] = Deno.args;
const texts = new Set<string>();
for await (const { name } of Deno.readDir(folder)) {
  for (const line of (await Deno.readTextFile(join(folder, name))).split("\n")) texts.add(line);
}
for (const version of VERSIONS) {
  const counts: Record<string, number> = {};
  const refused: string[] = [];
  for (const text of texts) {
    const options = { key: JSON.parse(key) as ShardKey, version };
    const judged = judgeCommand(mongoose.mongo.BSON.EJSON.parse(text) as Command, options);
    if (judged === undefined) continue;
    counts[judged.target] = (counts[judged.target] ?? 0) + 1;
    if (judged.target === "refused") refused.push(`${judged.why}: ${text.slice(0, 300)}`);
  }
  console.log(version, JSON.stringify(counts));
  for (const each of refused.sort()) console.log(`  ${each}`);
}
