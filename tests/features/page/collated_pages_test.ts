import { assertEquals } from "@std/assert";
import { stub } from "@std/testing/mock";
import type { Schema } from "mongoose";
import {
  all,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  onlyIf,
  prop,
  rest,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { type EntityBody, mount, type Mounted } from "../../support/support.ts";
import { linksOf, readPages } from "./links.ts";

const preFetch = ({ framework, headers }: FrameworkRequest) => {
  const locale = headers["x-locale"];
  if (locale !== undefined) framework.options.collation = { locale, strength: 2 };
  return true;
};

const options = { page: { max: 100 }, sort: ["name"], preFetch } as const;

/** A class with texts as identifiers. */
@rest({ route: "/codes", methods: [all<Code>(options)] })
@rest({
  route: "/hooked",
  methods: [all<Code>({ ...options, postFetch: (_req, code) => code.name === "no" ? null : code })],
})
@rest({
  route: "/named",
  methods: [
    all<Code>({
      ...options,
      postFetch: onlyIf<Code, "name">(["name"], (_req, code) => code.name !== "no"),
    }),
  ],
})
class Code extends FrameworkModel {
  static override configure(schema: Schema): void {
    schema.add({ _id: String } as never);
  }
  @prop()
  name?: string;
}

/** A class with usual identifiers. */
@rest({ route: "/words", methods: [all<Word>(options)] })
class Word extends FrameworkModel {
  @prop()
  name?: string;
}

const ROUTES = ["/codes", "/hooked", "/named"];

/** The headers of requests whose lists ignore case. */
const EN = { headers: { "x-locale": "en" } };

async function seed(codes: Readonly<Record<string, string>>): Promise<void> {
  const { collection } = getModel(Code);
  await collection.deleteMany({});
  await collection.insertMany(Object.entries(codes).map(([_id, name]) => ({ _id, name })) as never);
}

async function walk(app: Mounted, path: string): Promise<string[]> {
  const pages = await readPages(app, path, EN);
  return pages.flatMap(({ body }) => (body as EntityBody[]).map(({ _id }) => String(_id))).sort();
}

const CODES = { a: "x", b: "x", B: "X", c: "x", d: "x", e: "x", fgh: "x", Fgh: "X", fgH: "x" };

test("pages under a collation show each entity once, if they end between different identifiers", async () => {
  await using app = await mount([Code]);
  await seed(CODES);
  for (const path of ROUTES) {
    for (const query of ["?limit=3", "?limit=3&sort=name", "?limit=50"]) {
      assertEquals([path, query, await walk(app, path + query)], [
        ...[path, query, Object.keys(CODES).sort()],
      ]);
    }
  }
});

test("a page that ends between identifiers that a collation takes for equal is a 500", async () => {
  using logged = stub(console, "error");
  await using app = await mount([Code]);
  await seed(CODES);
  for (const path of ROUTES) {
    for (const query of ["?limit=2", "?limit=2&sort=name", "?skip=1&limit=1"]) {
      assertEquals([path, query, (await app.get(path + query, EN)).status], [path, query, 500]);
    }
    assertEquals((await app.get(`${path}?limit=2`)).status, 200);
    const simple = { headers: { "x-locale": "simple" } };
    assertEquals((await app.get(`${path}?limit=2`, simple)).status, 200);
  }
  const text = logged.calls.map(({ args }) => args.map(String).join(" ")).join();
  assertEquals(/Cannot page "Code": the collation of a hook compares .* as equal/.test(text), true);
  // The names differ by more than case, so it is known which of the entities comes first.
  await seed({ b: "x", B: "y" });
  assertEquals(await walk(app, "/codes?limit=1&sort=name"), ["B", "b"]);
});

test("entities that hooks leave out take no others with them", async () => {
  await using app = await mount([Code]);
  await seed({ a1: "no", a2: "no", b: "x", B: "x", c: "x" });
  for (const path of ["/hooked", "/named"]) {
    const { body, headers } = await app.get<EntityBody[]>(`${path}?limit=2`, EN);
    assertEquals([path, ...body.map(({ _id }) => _id).sort()], [path, "B", "b"]);
    assertEquals(headers.get("link")?.includes("after="), true);
    assertEquals(await walk(app, `${path}?limit=2`), ["B", "b", "c"]);
  }
});

test("pages of usual identifiers continue under a collation", async () => {
  await using app = await mount([Word]);
  await getModel(Word).insertMany(["a", "A", "b", "B", "A"].map((name) => ({ name })));
  const first = await app.get("/words?limit=1&sort=name", EN);
  assertEquals(linksOf(first).next?.includes("after="), true);
  assertEquals(new Set(await walk(app, "/words?limit=1&sort=name")).size, 5);
});
