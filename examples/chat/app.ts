import express, { type Express } from "express";
import { Framework } from "@mongrove/mongrove";
import { Room } from "./room.ts";

const HTML = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Chat</title>
<link rel="icon" href="data:,">
<h1><a href="#">Rooms</a></h1>
<ul></ul>
<form><input name="text" required maxlength="40" autocomplete="off"> <button>Send</button></form>
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
  const api = Framework.initialize({ models: [Room], strict: true });
  app.use("/api", api);
  app.use(Framework.errors({ notFound: true }));
  return app;
}
