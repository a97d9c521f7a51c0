// @ts-types="npm:@types/express@^5"
import type { Response, Router } from "express";
import { BUNDLE, findSwaggerUi, type SwaggerUi } from "./find_swagger_ui.ts";
import { type DocsPageOptions, writePage, writePolicy } from "./page.ts";
import { SCRIPT } from "./script.ts";
import { STYLE } from "./style.ts";

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

/** A guard may have set `Cache-Control: no-store`, which is stricter. */
export function keepFresh(res: Response): Response {
  return res.hasHeader("Cache-Control") ? res : res.set("Cache-Control", "no-cache");
}

function secure(res: Response): Response {
  return keepFresh(res).set({
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
  });
}
