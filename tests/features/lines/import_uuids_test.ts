import { assertEquals } from "@std/assert";
import { Schema, type Types } from "mongoose";
import { all, create, FrameworkModel, prop, rest } from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { mount } from "../../support/support.ts";
import { importTable } from "./csv.ts";
import { onlyStrict } from "../../support/only_strict.ts";

@rest({
  route: "/keys",
  methods: [all(), create({ many: 9, atomic: false, formats: ["csv"] })],
})
class Key extends FrameworkModel {
  @prop({ type: Schema.Types.UUID })
  uuid?: Types.UUID;
}

const UUID = "01890a5d-ac96-774b-bcce-b302099a8057";

test("an import takes a UUID in upper case", async () => {
  for (const bodies of ["strict", undefined] as const) {
    await using app = await mount([Key], bodies && { strict: onlyStrict("bodies") });
    const fates = await importTable(app, "/keys", { raw: `uuid\n${UUID.toUpperCase()}\n` });
    assertEquals(fates.map(({ status }) => status), [201]);
    const [key] = await app.read<Key[]>("/keys");
    assertEquals(String(key?.uuid), UUID);
  }
});
