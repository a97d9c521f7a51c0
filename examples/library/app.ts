import express, { type Express } from "express";
import { Framework } from "@mongrove/mongrove";
import { Author } from "./author.ts";
import { Shelf } from "./shelf.ts";

/** Builds the application. It neither connects nor listens. */
export function buildApp(): Express {
  const app = express();
  app.use(express.json());
  app.use(Framework.initialize({ models: [Shelf, Author] }));
  app.use(Framework.errors());
  return app;
}
