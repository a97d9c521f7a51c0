import express, { type Express } from "express";
import { Framework } from "@mongrove/mongrove";
import { openapi } from "@mongrove/mongrove/openapi";
import { Actor } from "./actor.ts";
import { Movie } from "./movie.ts";

/** Builds the application. It neither connects nor listens. */
export function buildApp(): Express {
  const app = express();
  app.use(express.json());
  const api = Framework.initialize({ models: [Movie, Actor], bodies: "strict" });
  app.use(api);
  app.use(openapi(api, { info: { title: "Movies", version: "1.0.0" } }));
  app.use(Framework.errors({ notFound: true }));
  return app;
}
