import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { ModelClass } from "../../../mod.ts";
import { openDatabase } from "../../../tests/harness/database.ts";
import { test } from "../../../tests/harness/testing.ts";
import { cases, withoutMadeUp } from "../../../tests/made/arbitrary_models.ts";
import { serveMade } from "../../../tests/made/serve_made.ts";
import { TimeBudget } from "../../database/time_budget.ts";
import type { ReadMode } from "../../database/read_batches.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import { describeShape } from "../../schema/fields/shape.ts";
import { getModel } from "../../schema/get_model.ts";
import { JsonReader } from "./json_reader.ts";

const RUNS = Number(Deno.env.get("FAST_CHECK_RUNS") ?? 60);

/** Reads all documents of a model as a list. */
async function readAs(mode: ReadMode, target: ModelClass): Promise<unknown> {
  const shape = describeShape(buildSchema(target).schema);
  const reader = new JsonReader({ model: getModel(target) as never, shape, mode });
  const query = { conditions: {}, projection: {}, options: { enableUtf8Validation: false } };
  const pieces: string[] = [];
  for await (const piece of reader.read(query, new TimeBudget(10_000))) {
    pieces.push(piece.toString());
  }
  return withoutMadeUp(JSON.parse(`[${pieces.join("")}]`));
}

test("JsonReader.read() gives the same in every mode", async () => {
  await using _database = await openDatabase();
  await fc.assert(
    fc.asyncProperty(cases, async ({ fields, documents }) => {
      await using app = await serveMade(fields);
      await app.stored.insertMany(documents.map((each) => ({ ...each })));
      assertEquals(await readAs("decoded", app.model), await readAs("reply", app.model));
    }),
    { numRuns: Math.ceil(RUNS / 2) },
  );
});
