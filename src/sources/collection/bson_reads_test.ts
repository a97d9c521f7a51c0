import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Model } from "mongoose";
import type { ModelClass } from "../../../mod.ts";
import { openDatabase } from "../../../tests/harness/database.ts";
import { casesOf } from "../../../tests/harness/report.ts";
import { test } from "../../../tests/harness/testing.ts";
import { withoutReplies } from "../../../tests/support/decoding_driver.ts";
import { cases, withoutMadeUp } from "../../../tests/support/made/arbitrary_models.ts";
import { serveMade } from "../../../tests/support/made/serve_made.ts";
import { TimeBudget } from "../../store/time_budget.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import { describeShape } from "../../schema/fields/shape.ts";
import { getModel } from "../../schema/get_model.ts";
import { BsonReads } from "./bson_reads.ts";

const RUNS = Number(Deno.env.get("FAST_CHECK_RUNS") ?? casesOf(60, 20));

/** Reads all documents of a model as a list. */
async function readAll(target: ModelClass, model: Model<unknown>): Promise<unknown> {
  const shape = describeShape(buildSchema(target).schema);
  const reader = new BsonReads({ model, shape });
  const query = { conditions: {}, projection: {}, options: { enableUtf8Validation: false } };
  const pieces: string[] = [];
  for await (const piece of reader.read(query, new TimeBudget(10_000))) {
    pieces.push(piece.toString());
  }
  return withoutMadeUp(JSON.parse(`[${pieces.join("")}]`));
}

const LOSS = Symbol("a value that the driver decodes with a loss");

function isLoss(error: unknown): typeof LOSS {
  if (error instanceof TypeError && /with a loss$/.test(error.message)) return LOSS;
  throw error;
}

test("BsonReads.read() gives the same from decoded documents, or fails", async () => {
  await using _database = await openDatabase();
  let count = 0;
  await fc.assert(
    fc.asyncProperty(cases, async ({ fields, documents }) => {
      await using app = await serveMade(fields);
      await app.stored.insertMany(documents.map((each) => ({ ...each })));
      const model = getModel(app.model) as never as Model<unknown>;
      const decoded = await readAll(app.model, withoutReplies(model)).catch(isLoss);
      if (decoded === LOSS) return;
      assertEquals(decoded, await readAll(app.model, model));
      count++;
    }),
    { numRuns: RUNS },
  );
  assert(count > RUNS / 10, `${count} cases without a loss`);
});
