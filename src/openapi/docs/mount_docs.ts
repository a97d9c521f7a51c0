// @ts-types="npm:@types/express@^5"
import type { Response, Router } from "express";
import { access } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import process from "node:process";
import { SCRIPT } from "./script.ts";
import { STYLE } from "./style.ts";
import { escapeHtml } from "../../http/escape_html.ts";

const BUNDLE = "swagger-ui-bundle.js";

const FILES = [BUNDLE, "swagger-ui.css", "favicon-32x32.png"];

export function mountDocs(router: Router, options: DocsPageOptions): void {
  let cached: SwaggerUi | undefined;
  const find = async () => {
    const found = await findSwaggerUi();
    if ("folder" in found) cached = found;
    return found;
  };
  router.get("/docs", async (req, res) => {
    // The relative URLs of the page are wrong below `/docs/`.
    if (req.path.endsWith("/")) return res.redirect("../docs");
    const found = cached ?? await find();
    if ("missing" in found) return res.status(404).type("text").send(`${found.missing}\n`);
    secure(res).set("Content-Security-Policy", writePolicy(options));
    return res.type("html").send(writePage(options));
  });
  router.get("/docs/start.js", (_req, res) => secure(res).type("js").send(SCRIPT));
  router.get("/docs/docs.css", (_req, res) => secure(res).type("css").send(STYLE));
  router.get("/docs/:file", async ({ params: { file } }, res, next) => {
    const found = FILES.includes(file) ? cached ?? await find() : undefined;
    if (found === undefined || "missing" in found) return next();
    secure(res);
    return res.sendFile(file, { root: found.folder, cacheControl: false });
  });
}

/** Keeps `Cache-Control: no-store` of a guard, or else caches would store the answer. */
export function keepFresh(res: Response): Response {
  return res.hasHeader("Cache-Control") ? res : res.set("Cache-Control", "no-cache");
}

function secure(res: Response): Response {
  return keepFresh(res).set({
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
  });
}

type SwaggerUi = { readonly folder: string } | { readonly missing: string };

const NAME = "swagger-ui-dist";

const INSTALL = `This page needs the package ${NAME}: ` +
  `run "npm i ${NAME}" or "deno add npm:${NAME}"`;

const ALLOW = `This page needs to read the files of ${NAME}: run Deno with --allow-read`;

/** Nothing is downloaded: the application must install swagger-ui-dist. */
async function findSwaggerUi(): Promise<SwaggerUi> {
  const folder = await askPackage() ?? lookInProject();
  if (folder === undefined) return { missing: INSTALL };
  try {
    await access(join(folder, BUNDLE));
    return { folder };
  } catch {
    return { missing: ALLOW };
  }
}

/** swagger-ui-dist knows its folder, wherever Deno stores packages. */
async function askPackage(): Promise<string | undefined> {
  // With a string literal in `import()`, bundlers and type checkers would fail if the package is missing.
  const path = `${NAME}/absolute-path.js`;
  try {
    const { default: getPath } = await import(path) as { default: () => string };
    return getPath();
  } catch {
    return undefined;
  }
}

/** Some installers let a package import only its dependencies, so the folder of the application is searched. */
function lookInProject(): string | undefined {
  try {
    const project = createRequire(join(process.cwd(), "main.js"));
    return dirname(project.resolve(`${NAME}/package.json`));
  } catch {
    return undefined;
  }
}

interface DocsPageOptions {
  readonly title: string;
  readonly servers: readonly string[];
}

/** Relative URLs work at any path and behind a proxy. */
function writePage({ title }: DocsPageOptions): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="docs/favicon-32x32.png">
<link rel="stylesheet" href="docs/docs.css">
</head>
<body>
<div id="page"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;
}

function writePolicy({ servers }: DocsPageOptions): string {
  const origins = servers.flatMap(originOf);
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    ["connect-src 'self'", ...new Set(origins)].join(" "),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

function originOf(server: string): string[] {
  return URL.canParse(server) && /^https?:/.test(server) ? [new URL(server).origin] : [];
}
