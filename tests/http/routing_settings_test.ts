import { assertEquals } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import type { Express, RequestHandler } from "express-types";
// Looked for at run time: while other test files run, Deno does not install packages reliably
import "swagger-ui-dist/absolute-path.js";
import { all, arrayProp, Framework, FrameworkModel, getModel, one, prop, rest } from "../../mod.ts";
import { openapi } from "@mongrove/mongrove/openapi";
import { openDatabase } from "../harness/database.ts";
import { test } from "../harness/testing.ts";
import { start } from "../support/support.ts";

class Comment extends FrameworkModel {
  @prop()
  text?: string;
}

class Review extends FrameworkModel {
  @rest({ methods: [all(), one()] })
  @arrayProp({ items: Comment, embedded: true })
  comments?: Comment[];
}

@rest({ route: "/movies", methods: [all(), one()] })
class Movie extends FrameworkModel {
  @rest({ methods: [all(), one()] })
  @arrayProp({ items: Review, embedded: true })
  reviews?: Review[];
}

const SENSITIVE = "case sensitive routing";
const STRICT = "strict routing";

/** The paths that applications of these tests have. */
const GUARDED = ["/movies", "/openapi.json", "/docs"];

const guard: RequestHandler = (_req, res) => void res.sendStatus(401);

function describedApi() {
  const api = Framework.initialize({ models: [Movie] });
  return [api, openapi(api, { info: { title: "Movies", version: "1" } })];
}

/** Stores a movie; gives the paths of everything that is shown of it, and of its description. */
async function storeMovie(): Promise<string[]> {
  const { _id, reviews } = await getModel(Movie).create({ reviews: [{ comments: [{}] }] });
  const list = `/movies/${_id}/reviews`;
  const comments = `${list}/${reviews?.[0]?._id}/comments`;
  const comment = `${comments}/${reviews?.[0]?.comments?.[0]?._id}`;
  return ["/movies", `/movies/${_id}`, list, comments, comment, "/openapi.json", "/docs"];
}

/** Gives the statuses that occur at paths. */
async function statusesOf(app: Express, paths: readonly string[]): Promise<number[]> {
  await using served = await start(app);
  const replies = await Promise.all(paths.map((path) => served.get(path)));
  return [...new Set(replies.map(({ status }) => status))];
}

/** The words of a path: the parts without digits, so that letters in identifiers are none. */
const WORDS = /(?<=\/)[a-z.]+(?=\/|$)/g;

/** Other spellings of the words of a path. */
function respelled(path: string): string[] {
  const words = [...path.matchAll(WORDS)].map(([word]) => word);
  return [
    path.replaceAll(WORDS, (word) => word.toUpperCase()),
    ...words.map((word) => path.replace(word, word[0]?.toUpperCase() + word.slice(1))),
  ];
}

test("routes tell upper from lower case where the application does, so that guards hold", async () => {
  await using _database = await openDatabase();
  const paths = await storeMovie();
  const others = paths.flatMap(respelled);
  assertEquals(await statusesOf(express().use(describedApi()), [...paths, ...others]), [200]);
  const app = express().enable(SENSITIVE).use(describedApi());
  assertEquals(await statusesOf(app, paths), [200]);
  assertEquals(await statusesOf(app, others), [404]);
  const guarded = express().enable(SENSITIVE).use(GUARDED, guard).use(describedApi());
  assertEquals(await statusesOf(guarded, paths), [401]);
  assertEquals(await statusesOf(guarded, GUARDED.flatMap(respelled)), [404]);
});

test("routes tell a slash at the end where the application does", async () => {
  await using _database = await openDatabase();
  const paths = await storeMovie();
  const slashed = paths.filter((path) => path !== "/docs").map((path) => `${path}/`);
  assertEquals(await statusesOf(express().use(describedApi()), [...paths, ...slashed]), [200]);
  const app = express().enable(STRICT).use(describedApi());
  assertEquals(await statusesOf(app, paths), [200]);
  assertEquals(await statusesOf(app, [...slashed, "/docs/"]), [404]);
  assertEquals(await statusesOf(app, paths.map((path) => path.toUpperCase())), [200]);
});

test("routes follow the settings of the application that they are mounted in", async () => {
  await using _database = await openDatabase();
  const api = describedApi();
  const own = express().use("/api", express().enable(SENSITIVE).use(GUARDED, guard).use(api));
  assertEquals(await statusesOf(own, ["/API/movies", "/api/docs"]), [401]);
  assertEquals(await statusesOf(own, ["/api/Movies", "/api/DOCS"]), [404]);
  const guards = GUARDED.map((path) => `/api${path}`);
  const sub = express().use(api);
  const inherited = express().enable(SENSITIVE).use(guards, guard).use("/api", sub);
  assertEquals(await statusesOf(inherited, ["/api/movies", "/api/docs"]), [401]);
  assertEquals(await statusesOf(inherited, ["/api/Movies", "/api/DOCS", "/API/movies"]), [404]);
  const mounted = express().enable(SENSITIVE).enable(STRICT).use("/api", api);
  assertEquals(await statusesOf(mounted, ["/api/movies", "/api/docs"]), [200]);
  assertEquals(await statusesOf(mounted, ["/api/Movies", "/api/movies/", "/Api/movies"]), [404]);
  assertEquals(await statusesOf(express().use(api), ["/Movies", "/movies/", "/DOCS"]), [200]);
});

test("the router takes routes and parameters of the host, whatever the settings", async () => {
  await using _database = await openDatabase();
  for (const isSensitive of [false, true]) {
    const api = Framework.initialize({ models: [Movie] });
    api.param("id", (_req, res) => void res.sendStatus(402));
    api.get("/host", (_req, res) => void res.sendStatus(202));
    const app = express().set(SENSITIVE, isSensitive).use(api);
    assertEquals(await statusesOf(app, ["/host"]), [202]);
    assertEquals(await statusesOf(app, ["/movies/1"]), [402]);
    assertEquals(await statusesOf(app, ["/movies/%ff"]), [404]);
    assertEquals(api.describe()[0]?.path, "/movies");
  }
});
