import express, { type Express } from "express";
import { Framework } from "@mongrove/mongrove";
import { admin, type AdminLogin, type AdminModel } from "@mongrove/mongrove/admin";
import { openapi } from "@mongrove/mongrove/openapi";
import { Actor } from "./actor.ts";
import { authenticated } from "./hooks/authenticated.ts";
import { Movie } from "./movie.ts";

/** Everybody reads, and the key lets writes pass. */
const LOGIN: AdminLogin = {
  header: "authorization",
  label: "Key",
  help: "The key that the demo prints",
};

const models = { Movie: { format: { year: "plain" } } satisfies AdminModel<Movie> };

/** Builds the application. It neither connects nor listens. */
export function buildApp(): Express {
  const app = express();
  app.use(express.json());
  const api = Framework.initialize({
    models: [Movie, Actor],
    strict: true,
    guard: authenticated,
  });
  app.use(api);
  app.use(openapi(api, { info: { title: "Movies", version: "1.0.0" } }));
  app.use("/admin", admin(api, { title: "Movies", login: LOGIN, models }));
  app.use(Framework.errors({ notFound: true }));
  return app;
}
