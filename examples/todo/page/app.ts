import express, { type Express } from "express";
import { Framework } from "@mongrove/mongrove";
import { Todo } from "./todo.ts";

const HTML = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Todos</title>
<link rel="icon" href="data:,">
<h1>Todos</h1>
<ul></ul>
<form><input name="text" aria-label="New todo" autocomplete="off"> <button>Add</button> <output></output></form>
<p role="status"></p>
<script type="module" src="/page.js"></script>
</html>
`;

/** Builds the application: the API, and the page with its script. It neither connects nor listens. */
export function buildApp(script: string): Express {
  const app = express();
  app.get("/", (_req, res) => {
    res.set("content-security-policy", "default-src 'self'; img-src data:").type("html").send(HTML);
  });
  app.get("/page.js", (_req, res) => void res.type("js").send(script));
  app.use(express.json());
  app.use("/api", Framework.initialize({ models: [Todo], strict: true }));
  app.use(Framework.errors({ notFound: true }));
  return app;
}
