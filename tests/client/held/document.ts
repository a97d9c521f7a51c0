import type { ModelClass } from "../../../mod.ts";
import { Framework } from "../../../mod.ts";
import { openapi } from "@mongrove/mongrove/openapi";
import express from "express";
import { start } from "../../support/support.ts";

/** Anything in a document: an object that JSON has. */
export type Node = { readonly [key: string]: Node | undefined } & { readonly $ref?: string };

/** Gives the OpenAPI document of models. */
export async function documentOf(models: readonly ModelClass[]): Promise<Node> {
  const api = Framework.initialize({ models });
  const app = await start(express().use(openapi(api, { info: { title: "A", version: "1" } })));
  try {
    return await app.read<Node & { _id: string; __v: number }>("/openapi.json");
  } finally {
    await app.stop();
  }
}
