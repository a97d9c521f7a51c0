import express, { type Express } from "express";
import { Framework } from "@mongrove/mongrove";
import { admin, type AdminLogin } from "@mongrove/mongrove/admin";
import { keys } from "@mongrove/mongrove/keys";
import { type Exposure, mcp } from "@mongrove/mongrove/mcp";
import { openapi } from "@mongrove/mongrove/openapi";
import { Organisation } from "./organisation.ts";
import { Ticket } from "./ticket.ts";
import { signedIn, userOf, USERS } from "./users.ts";

/** What assistants may do for whoever they work for. */
const EXPOSED: readonly Exposure[] = [
  { model: Ticket, operations: ["all", "one", "create", "update"], actions: ["close", "report"] },
  { model: Organisation },
];

/** The admin page asks for the token of a user. */
const LOGIN: AdminLogin = {
  header: "authorization",
  prefix: "Bearer ",
  label: "Token",
  help: "The identifier of a user, such as ada (an agent) or cem (a customer)",
};

/** The links of the admin page. */
const LINKS = { "Documentation of the API": "../docs" };

/** Builds the application. It neither connects nor listens. */
export function buildApp(): Express {
  const app = express();
  app.use(express.json());
  const api = Framework.initialize({
    models: [Ticket, Organisation],
    actor: (req) => userOf(req).id,
    tenant: (req) => userOf(req).desk,
    strict: true,
    guard: signedIn,
    plugins: [keys({ owner: (id) => USERS.get(String(id)) })],
    filters: "listed",
  });
  app.use(api);
  app.use(openapi(api, { info: { title: "Help desk", version: "1.0.0" } }));
  app.use("/mcp", mcp(api, { expose: EXPOSED, info: { name: "Help desk", version: "1.0.0" } }));
  app.use("/admin", admin(api, { title: "Help desk", login: LOGIN, links: LINKS }));
  app.use(Framework.errors({ notFound: true }));
  return app;
}
