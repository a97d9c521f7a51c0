import { assertEquals } from "@std/assert";
import { all, FrameworkModel, getModel, leaveOut, onlyIf, prop, rest } from "../../../mod.ts";
import type { FrameworkRequest } from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { until } from "../../support/until.ts";
import { mountLive, openLive } from "./live.ts";

const isOwn = (req: FrameworkRequest, owner?: string) => owner === req.headers["x-user"];

const GUARDS = {
  filter: ["text"],
  live: true,
  postFetch: onlyIf(
    ["shared", "owner"],
    (req: FrameworkRequest, card: Pick<Card, "shared" | "owner">) =>
      card.shared === true || isOwn(req, card.owner),
  ),
  preSend: leaveOut(
    ["phone"],
    ["owner"],
    (req: FrameworkRequest, card: Pick<Card, "owner">) => !isOwn(req, card.owner),
  ),
} as const;

@rest({ route: "/cards", methods: [all(GUARDS)] })
@rest({ route: "/pages", methods: [all({ ...GUARDS, page: { size: 2, max: 2 } })] })
class Card extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ select: false })
  owner?: string;
  @prop({ type: Boolean })
  shared?: boolean;
  @prop()
  phone?: string;
}

test("hooks with names decide for each subscriber of a live list", async () => {
  await using app = await mountLive([Card]);
  await getModel(Card).collection.insertOne({ text: "a", owner: "ann", phone: "5" });
  const open = (path: string, user: string) => openLive(`${app.url}${path}`, { "x-user": user });
  await using ann = await open("/cards", "ann");
  await using bob = await open("/cards", "bob");
  await using page = await open("/pages", "bob");
  await Promise.all([ann, bob, page].map((each) => each.ready()));
  const shown = (live: typeof ann) => live.items.map(({ _id: _, ...others }) => others);
  assertEquals([shown(ann), shown(bob)], [[{ text: "a", phone: "5" }], []]);
  await getModel(Card).collection.updateOne({ text: "a" }, { $set: { shared: true } });
  await until(() =>
    bob.items.length === 1 && page.items.length === 1 && ann.items[0]?.shared === true
  );
  const [mine, other] = [{ text: "a", phone: "5", shared: true }, { text: "a", shared: true }];
  assertEquals([shown(ann), shown(bob), shown(page)], [[mine], [other], [other]]);
  await getModel(Card).collection.updateOne({ text: "a" }, { $set: { shared: false } });
  await until(() => bob.items.length === 0 && page.items.length === 0);
  assertEquals(ann.items.length, 1);
});
