import { assert, assertEquals } from "@std/assert";
import {
  all,
  arrayProp,
  type Entity,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  type Ref,
  rest,
  type Restricted,
} from "../../mod.ts";
import { watchCommands } from "../support/both_paths.ts";
import { casesOf } from "../harness/report.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

const ROLES = ["agent", "clerk", "customer"];

const isCustomer = (req: FrameworkRequest) => req.headers["x-role"] === "customer";
const isNoAgent = (req: FrameworkRequest) => req.headers["x-role"] !== "agent";

@rest({ route: "/authors", methods: [one()] })
class Author extends FrameworkModel {
  static override schemaOptions = { collection: "readers_authors" };
  @prop({ required: true })
  name!: string;
  @prop({ hidden: isCustomer })
  phone?: string;
}

class Line extends FrameworkModel {
  @prop({ required: true })
  text!: string;
  @prop({ hidden: isNoAgent })
  remark?: string;
}

/** Waits, so that the hooks of other requests run meanwhile. */
async function later(_req: FrameworkRequest, entity: Entity<Letter>) {
  await new Promise((resolve) => setTimeout(resolve, 1));
  entity.title += "!";
  return entity;
}

function copied<E extends object>(_req: FrameworkRequest, entity: E): object {
  return { ...entity, own: [entity] };
}

const reads = { select: ["title", "secret", "lines"], populate: { author: true } } as const;

@rest({ route: "/plain", methods: [all(reads), one(reads)] })
@rest({
  route: "/hooked",
  methods: [all({ ...reads, postFetch: later }), one({ ...reads, postFetch: later })],
})
@rest({
  route: "/copied",
  methods: [all({ ...reads, preSend: copied }), one({ ...reads, preSend: copied })],
})
@rest({
  route: "/lean",
  methods: [
    all({ ...reads, preSend: copied, lean: true }),
    one({ ...reads, preSend: copied, lean: true }),
  ],
})
class Letter extends FrameworkModel {
  static override schemaOptions = { collection: "readers_letters" };
  @prop({ required: true })
  title!: string;
  @prop({ default: "none", hidden: isCustomer })
  secret!: Restricted<string>;
  @rest({ methods: [all(), one()] })
  @arrayProp({ items: Line, embedded: true, hidden: isCustomer })
  lines?: Line[];
  @prop({ type: Line })
  first?: Line;
  @prop({ ref: Author })
  author?: Ref<Author>;
}

async function store(): Promise<string[]> {
  const author = await getModel(Author).create({ name: "Ann", phone: "555-0100" });
  const letters = await getModel(Letter).create([1, 2, 3].map((each) => ({
    ...{ title: `letter ${each}`, secret: `hush ${each}`, author: author._id },
    lines: [{ text: "line", remark: `hush ${each}` }],
    first: { text: "first", remark: `hush ${each}` },
  })));
  return letters.map(({ _id }) => String(_id));
}

const READERS = casesOf(100, 30);

test("readers of all roles who ask for the same in the same moment see their own", async (t) => {
  await using app = await mount([Letter, Author]);
  const ids = await store();
  const sent = await watchCommands(app.database.uri);
  const [first] = ids;
  const urls = ["/plain", "/hooked", "/copied", "/lean"].flatMap((route) => [
    ...[route, `${route}/${first}`, `${route}/${first}?populate=author`],
    ...[`${route}?populate=author`, `${route}/${first}?select=title,secret`],
    ...[`${route}/${first}/lines`, `${route}/${first}?q={"secret":"hush 1"}`],
  ]);
  for (const url of urls) {
    await t.step(url.replace(/[0-9a-f]{24}/, ":id"), async () => {
      const read = async (role: string) => {
        const { status, text } = await app.get(url, { headers: { "x-role": role } });
        return `${status} ${text}`;
      };
      const alone = new Map<string, string>();
      for (const role of ROLES) alone.set(role, await read(role));
      assert(new Set(alone.values()).size === 3 || url.includes("?") || url.includes("/lines"));
      assert(!/hush|555-0100/.test(alone.get("customer") ?? ""), alone.get("customer"));
      sent.length = 0;
      const readers = Array.from({ length: READERS }, (_, each) => ROLES[each % 3] ?? "");
      const answers = await Promise.all(readers.map(read));
      for (const [each, role] of readers.entries()) assertEquals(answers[each], alone.get(role));
    });
  }
});

test("requests of several roles share statements, and no answers", async () => {
  await using app = await mount([Letter, Author]);
  const [first] = await store();
  const sent = await watchCommands(app.database.uri);
  await Promise.all(Array.from({ length: READERS }, (_, each) => {
    return app.read(`/plain/${first}`, { headers: { "x-role": ROLES[each % 3] ?? "" } });
  }));
  const finds = sent.filter(({ name }) => name === "find").length;
  assert(finds < READERS, `${finds}`);
});
