import { assertEquals } from "@std/assert";
import express from "express";
import type { RequestListener } from "node:http";
import { validate } from "npm:@readme/openapi-parser@9";
import { createConfig, lintFromString } from "npm:@redocly/openapi-core@2";
import { Validator } from "npm:@seriousme/openapi-schema-validator@2";
import { Framework, type ModelClass } from "@mongrove/mongrove";
import { openapi } from "@mongrove/mongrove/openapi";
import { buildApp as buildHelpdesk } from "../../examples/helpdesk/app.ts";
import { buildApp as buildLibrary } from "../../examples/library/app.ts";
import { buildApp as buildMovies } from "../../examples/movies/app.ts";
import { client } from "../support/client.ts";
import { EveryType, Piece } from "../fixtures/every_type.ts";
import { WRITTEN } from "../fixtures/written.ts";
import { serve } from "../harness/serve.ts";
import { test } from "../harness/testing.ts";
import { buildTextApp } from "./support/text_app.ts";
import { onlyStrict } from "../support/only_strict.ts";

/** What is changed in a document. */
interface Document extends Record<string, unknown> {
  paths: Record<string, Record<string, { parameters?: object[]; responses?: object }>>;
}

/** An application that describes models. */
function describing(title: string, models: readonly ModelClass[], bodies?: "strict") {
  return (): RequestListener => {
    const api = Framework.initialize({ models, ...bodies && { strict: onlyStrict("bodies") } });
    return express().use(api, openapi(api, { info: { title, version: "1" } }));
  };
}

const APPS = {
  ...{ movies: buildMovies, "movies with q as a text": buildTextApp, library: buildLibrary },
  helpdesk: buildHelpdesk,
  "every type": describing("Every type", [EveryType, Piece]),
  "every write": describing("Every write", WRITTEN),
  "every type, strict": describing("Every type", [EveryType, Piece], "strict"),
  "every write, strict": describing("Every write", WRITTEN, "strict"),
};

async function readDocument(app: RequestListener): Promise<Document> {
  await using served = await serve(app);
  return await client(served).read<Document>("/openapi.json");
}

/** The rules of Redocly, without two about what the options of `openapi()` say. */
const REDOCLY = await createConfig({
  extends: ["recommended"],
  rules: { "security-defined": "off", "info-license": "off" },
});

/** The validators: each tells what is wrong. They are given copies, as they may change what they read. */
const VALIDATORS: Readonly<Record<string, (document: Document) => Promise<unknown>>> = {
  "@seriousme/openapi-schema-validator": async (document) => {
    const { valid, errors } = await new Validator().validate(structuredClone(document));
    return valid ? [] : errors;
  },
  "@readme/openapi-parser": async (document) => {
    const result = await validate(structuredClone(document) as Parameters<typeof validate>[0]);
    return result.valid ? result.warnings : result.errors;
  },
  "@redocly/openapi-core": async (document) => {
    const [source, absoluteRef] = [JSON.stringify(document), "/openapi.json"];
    const problems = await lintFromString({ source, absoluteRef, config: REDOCLY });
    return problems.map(({ ruleId, message }) => `${ruleId}: ${message}`);
  },
};

for (const [validator, check] of Object.entries(VALIDATORS)) {
  for (const [name, build] of Object.entries(APPS)) {
    test(`${validator} accepts the document of ${name}`, async () => {
      assertEquals(await check(await readDocument(build())), []);
    });
  }

  test(`${validator} refuses a document with a parameter that has no place`, async () => {
    const document = await readDocument(buildMovies());
    document.paths["/movies"]?.get?.parameters?.push({ name: "a", schema: {} });
    assertEquals(JSON.stringify(await check(document)).length > 10, true);
  });
}
