import express, { type Express } from "express";
import { Framework } from "@mongrove/mongrove";
import { openapi } from "@mongrove/mongrove/openapi";
import { Author } from "./author.ts";
import { Shelf } from "./shelf.ts";

/** Builds the application. It neither connects nor listens. */
export function buildApp(): Express {
  const app = express();
  app.use(express.json());
  const api = Framework.initialize({ models: [Shelf, Author], strict: true });
  app.use(api);
  app.use(openapi(api, { info: { title: "Library", version: "1.0.0" } }));
  app.use(Framework.errors({ notFound: true }));
  return app;
}
