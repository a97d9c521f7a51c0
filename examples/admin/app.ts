import express, { type Express } from "express";
import { buildApp as buildMovies } from "../movies/app.ts";

const HTML = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Movies</title>
<link rel="icon" href="data:,">
<div id="root"></div>
<script type="module" src="/admin/page.js"></script>
</html>
`;

/** The page loads nothing from other origins. Its styles are made by its script. */
const POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:";

/**
 * Builds the application of examples/movies, with the page at `/admin`.
 *
 * @param buildPage Gives the script of the page. It is called when a browser asks for it.
 */
export function buildApp(buildPage: () => Promise<string>): Express {
  const app = express();
  app.get("/admin", (_req, res) => {
    res.set("content-security-policy", POLICY).type("html").send(HTML);
  });
  app.get("/admin/page.js", async (_req, res) => void res.type("js").send(await buildPage()));
  app.use(buildMovies());
  return app;
}
