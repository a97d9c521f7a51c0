import express, { type Express } from "express";
import { Framework } from "@mongrove/mongrove";
import { Actor } from "./actor.ts";
import { Movie } from "./movie.ts";

/** Builds the application. It neither connects nor listens. */
export function buildApp(): Express {
  const app = express();
  app.use(express.json());
  app.use(Framework.initialize({ models: [Movie, Actor] }));
  app.use(Framework.errors());
  return app;
}
