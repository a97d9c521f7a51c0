import { assertEquals } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import fc from "fast-check";
import mongoose from "mongoose";
import {
  all,
  type EntityHook,
  Framework,
  leaveOut,
  type ModelClass,
  one,
  onlyIf,
  rest,
} from "../../mod.ts";
import { openDatabase } from "../harness/database.ts";
import { casesOf } from "../harness/report.ts";
import { test } from "../harness/testing.ts";
import { asDocuments } from "../support/both_paths.ts";
import { type Case, cases, withoutMadeUp } from "../support/made/arbitrary_models.ts";
import { makeModel } from "../support/made/made_model.ts";
import { start, type Started } from "../support/support.ts";

/** Every failure names its seed; a number here makes a run longer. */
const RUNS = Number(Deno.env.get("FAST_CHECK_RUNS") ?? casesOf(18, 6));

type Shown = Record<string, unknown> & { readonly _id: string };

interface NamedCase extends Case {
  readonly names: readonly string[];
  readonly hides: readonly string[];
  /** Tells which entities pass, and which of them lack fields. */
  readonly salt: number;
}

const named: fc.Arbitrary<NamedCase> = cases.chain(({ fields, documents }) => {
  const known = Object.keys(fields);
  return fc.record({
    fields: fc.constant(fields),
    documents: fc.constant(documents),
    names: fc.subarray(known, { minLength: 1 }),
    hides: fc.subarray(known, { minLength: 1 }),
    salt: fc.integer({ min: 0, max: 6 }),
  }).map((given) => ({
    ...given,
    [fc.toStringMethod]: () => Deno.inspect(given, { depth: 8 }),
  }));
});

/** Whether an entity passes a test that knows its identifier. */
function passes(id: unknown, salt: number): boolean {
  return (parseInt(String(id).slice(-2), 16) + salt) % 3 !== 0;
}

/** Whether an entity lacks fields. */
function lacks(id: unknown, salt: number): boolean {
  return (parseInt(String(id).slice(-2), 16) + salt) % 2 === 0;
}

/** Serves a made model by hooks with names, by the same on documents, and by hooks on whole entities. */
async function serveNamed({ fields, documents, names, hides, salt }: NamedCase): Promise<Started> {
  const collection = `named_${crypto.randomUUID()}`;
  const model = makeModel(fields, { collection, autoCreate: false, autoIndex: false });
  const hooks = {
    postFetch: onlyIf(
      names as never,
      ((_req: unknown, { _id }: Shown) => passes(_id, salt)) as never,
    ) as never,
    preSend: leaveOut(
      hides as never,
      names as never,
      ((_req: unknown, { _id }: Shown) => {
        return salt === 0 ? Promise.resolve(lacks(_id, salt)) : lacks(_id, salt);
      }) as never,
    ) as never,
  };
  const whole: EntityHook<Shown> = (_req, entity) => passes(entity._id, salt) ? entity : null;
  const options = { filter: ["_id"], page: { size: 3, max: 50 }, formats: ["ndjson"] } as never;
  const declare = (route: string, given: object) => {
    const methods = [all({ ...options as object, ...given } as never)];
    const context = { kind: "class", name: "Made", metadata: metadataOf(model) };
    const schemaOptions = { collection, autoCreate: false, autoIndex: false };
    rest(
      {
        route,
        methods: [...methods, one({ filter: ["_id"], ...given } as never)],
        schemaOptions,
      } as never,
    )(
      model as never,
      { ...context, addInitializer: () => {} } as never,
    );
  };
  declare("/named", hooks);
  declare("/documents", { ...hooks, preFetch: asDocuments });
  declare("/whole", { postFetch: whole });
  return await startWith(model, { collection, documents });
}

async function startWith(
  model: ModelClass,
  { collection, documents }: { readonly collection: string } & Pick<NamedCase, "documents">,
): Promise<Started> {
  const app = express();
  app.use(Framework.initialize({ models: [model] }));
  const served = await start(app);
  const stored = mongoose.connection.collection(collection);
  await stored.insertMany(documents.map((each) => ({ ...each })));
  return {
    ...served,
    async [Symbol.asyncDispose]() {
      await served.stop();
      await stored.drop();
    },
  };
}

function metadataOf(model: object): object {
  return Reflect.get(model, Symbol.metadata) as object;
}

/** Reads all pages of a list. */
async function pagesOf(app: Started, path: string): Promise<{ pages: Shown[][]; links: string[] }> {
  const pages: Shown[][] = [];
  const links: string[] = [];
  for (let next: string | undefined = path; next !== undefined;) {
    const reply: Awaited<ReturnType<typeof app.get<Shown[]>>> = await app.get<Shown[]>(next);
    assertEquals(reply.status, 200, reply.text);
    pages.push(reply.body);
    const link = reply.headers.get("link") ?? "";
    links.push(link.replace(/\/(named|documents|whole)\?/g, "/?"));
    next = /<([^>]*)>; rel="next"/.exec(link)?.[1];
  }
  return { pages, links };
}

/** Checks that all forms of a list show the expected entities, in pages of the same lengths as whole entities have. */
async function checkRoute(
  app: Started,
  { route, lacking }: { readonly route: string; readonly lacking: readonly Partial<Shown>[] },
): Promise<void> {
  const { pages } = await pagesOf(app, `${route}?limit=50`);
  assertEquals(withoutMadeUp(pages.flat()), withoutMadeUp(lacking), route);
  const small = await pagesOf(app, `${route}?limit=2`);
  const whole = await pagesOf(app, "/whole?limit=2");
  assertEquals(
    small.pages.map(({ length }) => length),
    whole.pages.map(({ length }) => length),
  );
  assertEquals(small.links, whole.links);
  assertEquals(withoutMadeUp(small.pages.flat()), withoutMadeUp(lacking));
  const lines = await app.get(`${route}?limit=50`, {
    headers: { accept: "application/x-ndjson" },
  });
  const parsed = lines.text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
  assertEquals(withoutMadeUp(parsed), withoutMadeUp(lacking));
  for (const shown of lacking) {
    const one = await app.get<Shown>(`${route}/${shown._id}`);
    assertEquals(withoutMadeUp([one.body]), withoutMadeUp([shown]));
  }
}

/** Returns the values of a JSON text, with numbers as they are written. Only the order of keys may differ. */
function tokensOf(text: string): unknown {
  const keepNumber = (_key: string, value: unknown, { source }: { source: string }) =>
    typeof value === "number" ? `number ${source}` : value;
  return JSON.parse(text, keepNumber as (key: string, value: unknown) => unknown);
}

/**
 * Checks that answers from bytes have the texts of the answers for documents. Mongoose shows defaults before the fields
 * that are stored, so the order of keys is not compared.
 */
async function checkTexts(app: Started, ids: readonly string[]): Promise<void> {
  const ask = async (path: string, accept: string) => {
    const { status, text } = await app.get(path, { headers: { accept } });
    const shown = text.split("\n").filter(Boolean).flatMap(tokensOf);
    return [status, withoutMadeUp(shown)];
  };
  const lists = ["?limit=50", "?limit=2"].flatMap((path) =>
    ["application/json", "application/x-ndjson"].map((accept) => ({ path, accept }))
  );
  const entities = ids.map((id) => ({ path: `/${id}`, accept: "application/json" }));
  for (const { path, accept } of [...lists, ...entities]) {
    assertEquals(await ask(`/named${path}`, accept), await ask(`/documents${path}`, accept), path);
  }
}

test("hooks with names answer what hooks on whole entities answer, whatever is stored", async () => {
  await using _database = await openDatabase();
  await fc.assert(
    fc.asyncProperty(named, async (given) => {
      await using app = await serveNamed(given);
      const { hides, salt } = given;
      const expected = await pagesOf(app, "/whole?limit=50");
      const lacking = expected.pages.flat().map((shown) =>
        lacks(shown._id, salt)
          ? Object.fromEntries(Object.entries(shown).filter(([name]) => !hides.includes(name)))
          : shown
      );
      for (const route of ["/named", "/documents"]) await checkRoute(app, { route, lacking });
      await checkTexts(app, expected.pages.flat().map(({ _id }) => _id));
    }),
    { numRuns: RUNS },
  );
});
