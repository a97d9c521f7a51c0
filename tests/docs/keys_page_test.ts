import { assert, assertEquals } from "@std/assert";
import { test } from "../harness/testing.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { loadRecipe } from "./recipes/open_recipe.ts";
import { parseAnswer } from "./tutorial/parse_answer.ts";
import { readSteps } from "./tutorial/read_steps.ts";
import { Rehearsal } from "./tutorial/rehearsal.ts";

const PAGE = "docs/keys.md";

const TITLE = "An example";

const text = await Deno.readTextFile(new URL(`../../${PAGE}`, import.meta.url));

test(`${PAGE} shows what its file answers, headers included`, async () => {
  const { turns = [] } = readSteps(text).find(({ title }) => title === TITLE) ?? {};
  assertEquals(turns.length, 6);
  await using app = await (await loadRecipe(PAGE, TITLE))();
  const rehearsal = new Rehearsal();
  for (const { line, answer, headers } of turns) {
    const given = parseAnswer(await rehearsal.play(app.url, line, answer));
    assertEquals([given, rehearsal.headers(headers)], [parseAnswer(answer), headers], line);
  }
});

test(`${PAGE} names scopes that keys take`, async () => {
  const [, table = ""] = /\n## Scopes\n([^]*?)\n## /.exec(text) ?? [];
  const names = [...table.matchAll(/`([\w/*]+:[\w.*]+)`/g)].map(([, name = ""]) => name);
  assert(names.length > 8, String(names));
  const change = (code: string) =>
    code.replace('"/tasks"', '"/tickets", history: true, trash: { see: () => true }').replace(
      "keys({",
      `keys({ scopes: ["**:*"],`,
    )
      .replace("create()]", "create({ many: 5 }), remove(), close]").replace(
        "create, F",
        "create, remove, F",
      )
      .replace("@rest(", `${PARTS}@rest(`).replace("title!: string;", `title!: string;${NOTES}`)
      .replace("[Task]", "[Task, Person]");
  await using app = await (await loadRecipe(PAGE, TITLE, change))(await sharedReplicaSet());
  const headers = { "x-user": "ann" };
  for (const scope of names) {
    const { status, text } = await app.post("/keys", { name: "n", scopes: [scope] }, { headers });
    assertEquals([scope, status], [scope, 201], text);
  }
});

/** What the scopes of the page name beside its file. */
const PARTS = `
import { action, arrayProp } from "@mongrove/mongrove";
const close = action("close", { on: "one", run: (_req, task) => task });
@rest({ route: "/people", methods: [one()] })
class Person extends FrameworkModel {}
class Note extends FrameworkModel {}
`;

const NOTES = `
  @rest({ methods: [all({ page: false })] })
  @arrayProp({ items: Note, embedded: true, apart: true })
  notes?: Note[];`;
