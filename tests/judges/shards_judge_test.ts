import { assertEquals } from "@std/assert";
import { longTest } from "../harness/testing.ts";
import { makeFamily, serveFamilies, type Tenancy } from "./shards/papers.ts";
import { FEATURES } from "./shards/requests.ts";
import {
  COLUMNS,
  judgeFeature,
  judgeOwn,
  listsOf,
  type Recorded,
  recordFeatures,
  refusedOwnIndexes,
  unwritten,
} from "./shards/shard_lists.ts";

const PAGE = new URL("./shards/lists.md", import.meta.url);

/** The lines of the page between which the lists stand. */
const [BEGIN, END] = ["<!-- The lists of the shards -->", "<!-- end -->"];

/** The features that read the entities of all tenants. A batch begins its transaction by a read of nothing. */
const OF_ALL = [
  ...[
    "live list",
    "`POST /batch`",
    "replaced and removed files",
    "`Framework.tidy()`",
    "`follow()`",
  ],
];

function assertNothingRefused(recorded: readonly Recorded[]): void {
  for (const { title, key } of [COLUMNS.byTenant, COLUMNS.byTenantAndId, COLUMNS.byId]) {
    const column = { title, key, families: ["tenant", "scope"] } as const;
    for (const [feature] of FEATURES) {
      const { refusing, why } = judgeFeature(recorded, { feature, column });
      assertEquals({ refusing, why }, { refusing: [], why: [] }, `${feature} by ${title}`);
    }
  }
  for (const [name, , { refusing }] of judgeOwn(recorded)) assertEquals(refusing, [], name);
}

/** Returns the features that ask more than one shard if the tenant's field is the shard key. */
function askingMore(recorded: readonly Recorded[], family: Tenancy): string[] {
  const column = { ...COLUMNS.byTenant, families: [family] };
  return FEATURES.map(([feature]) => feature)
    .filter((feature) => judgeFeature(recorded, { feature, column }).target !== "one");
}

/** Compares the page with the lists, or writes the page to a file if the environment names one. */
async function checkPage(lists: string): Promise<void> {
  const page = await Deno.readTextFile(PAGE);
  const [before, after] = [page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END)];
  const file = Deno.env.get("SHARDS_PAGE");
  if (file !== undefined) {
    const made = `${page.slice(0, before)}\n\n${lists}\n\n${page.slice(after)}`;
    return await Deno.writeTextFile(file, made);
  }
  const hint = "SHARDS_PAGE=/tmp/lists.md deno task test tests/judges/shards_judge_test.ts " +
    "&& cp /tmp/lists.md tests/judges/shards/ && deno fmt tests/judges/shards";
  assertEquals(page.slice(before, after).trim(), lists, hint);
}

longTest("no command of a class whose tenant or scope has the shard key is refused", async (t) => {
  const families = (["tenant", "scope", "none"] as const).map(makeFamily);
  await using app = await serveFamilies(families);
  const recorded = await recordFeatures(app, {
    families,
    step: (name, run) => t.step({ name, fn: run, sanitizeOps: false, sanitizeResources: false }),
  });
  await t.step("nothing is refused", () => assertNothingRefused(recorded));
  await t.step("the tenant's field as the shard key leads to one shard", () => {
    assertEquals(askingMore(recorded, "tenant"), OF_ALL);
    // A scope does not bind the further writes of a removal or a restore.
    const ofScope = [...OF_ALL, "`onDelete`", "`trash`"].toSorted();
    assertEquals(askingMore(recorded, "scope").toSorted(), ofScope);
  });
  await t.step("each collection of the framework is written", () => {
    assertEquals(unwritten(recorded), []);
  });
  await t.step("no index of the framework's collections is refused", async () => {
    assertEquals(await refusedOwnIndexes(), []);
  });
  await t.step(
    "tests/judges/shards/lists.md has the lists",
    async () => checkPage(await listsOf(recorded)),
  );
});
