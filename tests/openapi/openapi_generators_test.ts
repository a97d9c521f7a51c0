import { assert, assertEquals } from "@std/assert";
import express from "express";
import { all, create, Framework, FrameworkModel, prop, rest } from "../../mod.ts";
import { openapi } from "@mongrove/mongrove/openapi";
import { type Document, documentOf, INFO } from "../support/documented.ts";
import { EveryType, Piece } from "../fixtures/every_type.ts";
import { Client, Ticket } from "../fixtures/help_desk.ts";
import { Book, Receipt } from "../fixtures/receipts.ts";
import { WRITTEN } from "../fixtures/written.ts";
import { test } from "../harness/testing.ts";
import { start } from "../support/support.ts";

/** An import: its fates are told on lines, which no schema describes. */
@rest({ route: "/lines", methods: [create({ many: 10, formats: ["ndjson"] })] })
class Line extends FrameworkModel {
  @prop()
  text?: string;
}

@rest({ route: "/sorted", methods: [all({ sort: ["name", "rank"], page: { max: 5 } })] })
class Sorted extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Number })
  rank?: number;
}

const MODELS = {
  ...{ "every type": [EveryType, Piece], "every write": WRITTEN, groups: [Receipt, Book] },
  ...{ "a help desk": [Ticket, Client], "an import": [Line], orders: [Sorted] },
};

/** Lists the objects of a document, with the path to each. */
function objectsIn(value: unknown, path = "#"): [path: string, Record<string, unknown>][] {
  if (typeof value !== "object" || value === null) return [];
  const below = Object.entries(value).flatMap(([name, each]) => objectsIn(each, `${path}/${name}`));
  return Array.isArray(value) ? below : [[path, value as Record<string, unknown>], ...below];
}

for (const [name, models] of Object.entries(MODELS)) {
  test(`the document of ${name} has no list of types and no array without items`, async () => {
    const { document } = await documentOf(models);
    for (const [path, schema] of objectsIn(document)) {
      if (path.endsWith("/properties") || "in" in schema) continue;
      assert(!Array.isArray(schema.type), `${path} has the types ${schema.type}`);
      assert(schema.type !== "array" || "items" in schema, `${path} has no items`);
    }
  });

  test(`the document of ${name} uses each component, and no allOf in a parameter`, async () => {
    const { document, schemas } = await documentOf(models);
    const text = JSON.stringify(document);
    for (const each of Object.keys(schemas)) {
      assert(text.includes(`"#/components/schemas/${each}"`), `${each} is not used`);
    }
    for (const operation of Object.values(document.paths).flatMap((item) => Object.values(item))) {
      for (const { name, schema } of operation.parameters ?? []) {
        assertEquals([name, schema !== undefined && "allOf" in schema], [name, false]);
      }
    }
  });
}

test("the schema of sort takes each declared field once", async () => {
  const { operation, validator } = await documentOf([Sorted]);
  const sort = operation("GET", "/sorted").parameters?.find(({ name }) => name === "sort");
  const isValid = validator(sort?.schema ?? {});
  for (const keys of [["name"], ["-rank"], ["rank", "-name"]]) assert(isValid(keys), keys.join());
  for (const keys of [[], ["x"], ["rank", "rank"]]) {
    assert(!isValid(keys), keys.join());
  }
});

/** Reads the parameter `q` of a list in the document at a path. */
async function readQ(path: string): Promise<Record<string, unknown> | undefined> {
  const api = Framework.initialize({ models: [Sorted] });
  const served = await start(express().use(api, openapi(api, { info: INFO, q: "string" })));
  const { paths } = await served.read<Document>(path);
  await served.stop();
  const found = paths["/sorted"]?.get?.parameters?.find(({ name }) => name === "q");
  return found && { ...found };
}

test("the page asks for q as content, which it can show, whatever the document says", async () => {
  const api = Framework.initialize({ models: [Sorted] });
  const served = await start(express().use(api, openapi(api, { info: INFO, q: "string" })));
  const script = await served.get("/docs/start.js");
  await served.stop();
  const [, url = ""] = /new URL\("([^"]*)"/.exec(script.text) ?? [];
  const [shown, told] = [await readQ(`/${url}`), await readQ("/openapi.json")];
  assertEquals(Object.keys(shown?.content as object), ["application/json"]);
  assertEquals((told?.schema as { type: string }).type, "string");
  assertEquals([shown?.schema, told?.content], [undefined, undefined]);
});
