import { assert, assertEquals } from "@std/assert";
import { all, create, type FrameworkRequest, one, onlyIf, prop, rest } from "../../mod.ts";
import { Framework, FrameworkModel, leaveOut } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { mountDocumented } from "../support/documented.ts";

const isNamed = onlyIf(
  ["name"],
  (_req: FrameworkRequest, { name }: { readonly name: string }) => name !== "secret",
);
const hides = leaveOut(["phone"] as never, ["name"] as never, () => true) as never;

@rest({ route: "/plain", methods: [all(), one(), create()] })
@rest({ route: "/kept", methods: [all({ postFetch: isNamed }), one({ preSend: isNamed })] })
@rest({
  route: "/hidden",
  methods: [all({ filter: ["name"], preSend: hides }), one({ filter: ["name"], preSend: hides })],
})
class User extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ required: true })
  phone!: string;
}

/** The schema of the entities of a list. */
interface EntitySchema {
  readonly required: string[];
  readonly properties: Record<string, unknown>;
}

test("fields that leaveOut() leaves out are optional in the document", async () => {
  await using app = await mountDocumented([User]);
  await app.created("/plain", { name: "a", phone: "5" });
  const answerOf = (path: string) => JSON.stringify(app.answer("GET", path));
  assertEquals(answerOf("/kept"), answerOf("/plain"));
  assertEquals(answerOf("/kept/{id}"), answerOf("/plain/{id}"));
  const { $ref } = app.answer("GET", "/hidden").items as { $ref: string };
  assertEquals($ref, "#/components/schemas/UserReduced");
  const { required, properties } = app.schemas.UserReduced as unknown as EntitySchema;
  assert(required.includes("name") && !required.includes("phone") && "phone" in properties);
  const [found] = await app.read<Record<string, unknown>[]>("/hidden");
  assertEquals([found?.name, found?.phone], ["a", undefined]);
  const described = Framework.describe({ models: [User] }).find(({ path, operation }) =>
    path === "/hidden" && operation === "all"
  );
  const phone = described?.answer.find(({ name }) => name === "phone");
  assertEquals(phone?.required, false);
});
