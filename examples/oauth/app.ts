import { Framework } from "@mongrove/mongrove";
import { mcp } from "@mongrove/mongrove/mcp";
import express from "express";
import { authorization, signedIn } from "./auth.ts";
import { mountAuth } from "./consent.ts";
import { Todo } from "./todo.ts";

export const app = express();
mountAuth(app);
app.use(express.json());
const api = Framework.initialize({ models: [Todo], strict: true, guard: signedIn });
const assistants = mcp(api, {
  expose: [{ model: Todo, operations: ["all", "create"] }],
  authorization,
});
app.use(assistants.metadata);
app.use("/mcp", assistants);
app.use(api);
app.use(Framework.errors({ notFound: true }));
