import express from "express";
import { Ajv2020, type ValidateFunction } from "npm:ajv@^8/dist/2020.js";
import { Framework } from "../../mod.ts";
import type { InitializeOptions, ModelClass } from "../../mod.ts";
import { openapi } from "@mongrove/mongrove/openapi";
import type { OpenApiOptions } from "@mongrove/mongrove/openapi";
import { openDatabase } from "../harness/database.ts";
import { start } from "./support.ts";

export const INFO = { title: "Tests", version: "1.0.0" };

export interface DocumentedOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly deprecated?: boolean;
  readonly parameters?: readonly DocumentedParameter[];
  readonly requestBody?: {
    readonly description?: string;
    readonly content: Record<string, Media>;
  };
  readonly responses: Record<string, DocumentedResponse>;
}

export interface DocumentedParameter {
  readonly description?: string;
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema?: JsonSchema;
  readonly content?: Record<string, Media>;
}

export interface DocumentedResponse {
  readonly description: string;
  readonly headers?: Record<string, unknown>;
  readonly content?: Record<string, Media>;
  readonly $ref?: string;
}

interface Media {
  readonly schema: JsonSchema;
  readonly example?: unknown;
}

/** A schema of a document. */
export type JsonSchema = Record<string, unknown> & { readonly $ref?: string };

export interface Document {
  readonly openapi: string;
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Record<string, Record<string, DocumentedOperation>>;
  readonly components: {
    readonly schemas: Record<string, JsonSchema>;
    readonly responses: Record<string, DocumentedResponse>;
    readonly securitySchemes?: unknown;
  };
}

/** Returns what tests ask of the document. */
export function readDocument(document: Document) {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, "document");
  const named = (name: string): ValidateFunction =>
    ajv.compile({ $ref: `document#/components/schemas/${name}` });
  const operation = (method: string, path: string): DocumentedOperation => {
    const found = document.paths[path]?.[method.toLowerCase()];
    if (found === undefined) throw new Error(`The document has no ${method} ${path}`);
    return found;
  };
  const answer = (method: string, path: string, status = 200): JsonSchema => {
    const schema = operation(method, path).responses[status]?.content?.["application/json"]?.schema;
    if (schema === undefined) throw new Error(`${method} ${path} has no answer ${status}`);
    return schema;
  };
  const validator = (schema: JsonSchema): ValidateFunction =>
    ajv.compile(
      JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"document#/components')),
    );
  return { document, schemas: document.components.schemas, named, operation, answer, validator };
}

/** Needs no database. */
export async function documentOf(
  models: readonly ModelClass[],
  options: Partial<OpenApiOptions> = {},
) {
  const app = express();
  app.use(openapi({ models }, { info: INFO, ...options }));
  const served = await start(app);
  const document = await served.read<Document>("/openapi.json");
  await served.stop();
  return readDocument(document);
}

/** Serves models with their document, over a database of their own. */
export async function mountDocumented(
  models: readonly ModelClass[],
  options: Omit<InitializeOptions, "models"> = {},
) {
  const api = Framework.initialize({ ...options, models });
  const database = await openDatabase();
  const app = express();
  app.use(express.json(), api, openapi(api, { info: INFO }), Framework.errors());
  const served = await start(app);
  const known = readDocument(await served.read<Document>("/openapi.json"));
  return {
    ...served,
    ...known,
    async [Symbol.asyncDispose]() {
      await served.stop();
      await database[Symbol.asyncDispose]();
    },
  };
}
