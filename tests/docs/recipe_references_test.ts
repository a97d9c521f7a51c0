import { assertEquals } from "@std/assert";
import { test } from "../harness/testing.ts";
import { loadRecipe } from "./recipes/open_recipe.ts";
import type { Client, EntityBody, ErrorBody } from "../support/client.ts";
import { readSteps } from "./tutorial/read_steps.ts";

const PAGE = "docs/cookbook.md";
const TWICE = /^@rest\((?:(?!^class )[^])*^@rest\((?:(?!^class )[^])*^class (\w+)/m;

interface Entities {
  /** Makes an entity that is in the scope of the main `@rest` of the class. */
  readonly inside: (app: Client) => Promise<EntityBody>;
  readonly outside: (app: Client) => Promise<EntityBody>;
}

const RECIPES: Readonly<Record<string, Entities>> = {
  Article: {
    inside: (app) => app.created("/desk/articles", { title: "in" }),
    outside: (app) => app.created("/desk/articles", { title: "out", draft: true }),
  },
};

/** Adds to a recipe a class that refers to one of its classes, and a route that selects from that class. */
function withReference(code: string, name: string): string {
  const [head = "", tail = ""] = code.split(
    "export const app = express();\napp.use(express.json());\n",
  );
  const options = `populate: { to: true, many: true }`;
  return `${head}
import { arrayProp as arrayOf, create as post, prop as field } from "@mongrove/mongrove";
import { all as list, one as single, Framework as api, rest as routes } from "@mongrove/mongrove";

@routes({
  route: "/refers",
  open: true,
  methods: [list({ page: false, ${options} }), single({ ${options} }), post()],
})
class Refers extends FrameworkModel {
  @field({ ref: ${name}, exists: true })
  must?: never;
  @field({ ref: ${name} })
  to?: never;
  @routes({ open: true, methods: [list({ page: false })] })
  @arrayOf({ items: ${name} })
  many?: never[];
}

export const app = express();
app.use(express.json());
app.get("/selected", async (req, res) => {
  const { filter, model } = await api.queryFor(req, ${name});
  res.json({ count: await model.countDocuments(filter) });
});
${tail.replace("models: [", "models: [Refers, ")}`;
}

const steps = readSteps(await Deno.readTextFile(new URL(`../../${PAGE}`, import.meta.url)));
const twice = steps.flatMap(({ title, files }) => {
  const name = TWICE.exec(files["app.ts"] ?? "")?.[1];
  return name === undefined ? [] : [{ title, name }];
});

test("the recipes whose class has several @rest are those that are tested here", () => {
  assertEquals(twice.map(({ name }) => name), Object.keys(RECIPES));
});

for (const { title, name } of twice) {
  test(`${PAGE}: what refers to "${name}" is bound by its main @rest`, async () => {
    const open = await loadRecipe(PAGE, title, (code) => withReference(code, name));
    await using app = await open();
    const { inside, outside } = RECIPES[name] as Entities;
    const [shown, left] = [(await inside(app))._id, (await outside(app))._id];
    assertEquals(await app.read<unknown>("/selected"), { count: 1 });
    const { _id } = await app.created("/refers", { must: shown, to: left, many: [left, shown] });
    await app.created("/refers", { to: shown });
    const idOf = (to: unknown) => (to as EntityBody | null)?._id ?? null;
    const list = await app.read<EntityBody[]>("/refers?populate=to,many");
    assertEquals(list.map(({ to }) => idOf(to)), [null, shown]);
    const single = await app.read<EntityBody>(`/refers/${_id}?populate=to,many`);
    assertEquals([single.to, (single.many as unknown[]).map(idOf)], [null, [shown]]);
    const parts = await app.read<EntityBody[]>(`/refers/${_id}/many`);
    assertEquals(parts.map(idOf), [shown]);
    const { status, body } = await app.post<ErrorBody>("/refers", { must: left });
    assertEquals([status, body.errors?.must?.kind], [400, "exists"]);
  });
}
