import { assertEquals } from "@std/assert";
import { all, FrameworkModel, type FrameworkRequest, getModel, one } from "../../mod.ts";
import { leaveOut, onlyIf, prop, rest, type Restricted } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { asDocuments } from "../support/both_paths.ts";
import { mount } from "../support/support.ts";

const isAgent = (req: FrameworkRequest) => req.headers["x-role"] === "agent";

const GUARDS = {
  filter: ["title"],
  postFetch: onlyIf(
    ["internal"],
    (req: FrameworkRequest, { internal }: { readonly internal?: boolean }) =>
      internal === false || isAgent(req),
  ),
  preSend: leaveOut(
    ["note"],
    ["internal"],
    (_req: FrameworkRequest, { internal }: { readonly internal?: boolean }) => internal !== true,
  ),
} as const;

@rest({ route: "/bytes", methods: [all(GUARDS), one(GUARDS)] })
@rest({ route: "/documents", methods: [all({ ...GUARDS, preFetch: asDocuments }), one(GUARDS)] })
class Ticket extends FrameworkModel {
  @prop()
  title?: string;
  @prop({ type: Boolean, hidden: (req) => !isAgent(req as FrameworkRequest) })
  internal?: Restricted<boolean>;
  @prop({ hidden: (req) => !isAgent(req as FrameworkRequest) })
  note?: Restricted<string>;
}

test("a test with names reads a field that a function hides from the reader, and no answer shows it", async () => {
  await using app = await mount([Ticket]);
  await getModel(Ticket).collection.insertMany([
    { title: "a", internal: true, note: "n" },
    { title: "b", internal: false, note: "n" },
  ]);
  const shown = async (path: string, role: string) => {
    const found = await app.read<Record<string, unknown>[]>(path, { headers: { "x-role": role } });
    return found.map(({ _id: _, ...others }) => others);
  };
  for (const path of ["/bytes", "/documents"]) {
    assertEquals(await shown(path, "customer"), [{ title: "b" }]);
    assertEquals(await shown(path, "agent"), [
      { title: "a", internal: true, note: "n" },
      { title: "b", internal: false },
    ]);
  }
});
