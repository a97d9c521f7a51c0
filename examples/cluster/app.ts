import express, { type Express } from "express";
import { Framework } from "@mongrove/mongrove";
import { Note } from "./note.ts";

/** Builds the application. It neither connects nor listens. */
export function buildApp(): Express {
  const app = express();
  app.use(express.json());
  app.use(Framework.initialize({ models: [Note], strict: true }));
  app.use(Framework.errors({ notFound: true }));
  return app;
}
