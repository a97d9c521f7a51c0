import { assertEquals } from "@std/assert";
import type { Schema } from "mongoose";
import { all, create, FrameworkModel, getModel, one, prop, replace, rest } from "../../mod.ts";
import { declareId } from "../fixtures/id_kinds.ts";
import { test } from "../harness/testing.ts";
import { pass } from "../support/both_paths.ts";
import { mount, type MountOptions } from "../support/support.ts";
import { onlyStrict } from "../support/only_strict.ts";

/** The statuses of a creation, and of a read and a PUT by path, with an `_id` as JSON. */
const LARGE: readonly (readonly [json: string, made: number, read: number, put: number])[] = [
  ["9007199254740991", 201, 200, 200],
  ["9007199254740992", 400, 404, 201],
  ["9007199254740993", 400, 404, 404],
  ['"9007199254740992"', 201, 200, 200],
  ['"9007199254740993"', 400, 404, 404],
  ["-9007199254740993", 400, 404, 404],
  ["123456789012345678901", 400, 404, 404],
];

async function serve(options: MountOptions) {
  @rest({ route: "/plain", methods: [all(), one(), create(), replace()] })
  @rest({
    route: "/hooked",
    methods: [one({ postFetch: pass }), create({ preSave: pass }), replace({ preSave: pass })],
  })
  class Thing extends FrameworkModel {
    @prop()
    name?: string;
    static override configure(schema: Schema): void {
      declareId(schema, Number);
    }
  }
  return { app: await mount([Thing], options), Thing };
}

test("an _id of 2^53 and more is exact, or refused", async () => {
  for (const bodies of ["strict", undefined] as const) {
    const { app: opened, Thing } = await serve({ ...bodies && { strict: onlyStrict("bodies") } });
    await using app = opened;
    for (const route of ["/plain", "/hooked"]) {
      for (const [json, made, read, put] of LARGE) {
        const text = json.replaceAll('"', "");
        const raw = { raw: `{"_id":${json}}`, headers: { "content-type": "application/json" } };
        const statuses = [
          (await app.send("POST", route, raw)).status,
          (await app.get(`${route}/${text}`)).status,
          (await app.put(`${route}/${text}`, {})).status,
        ];
        // Strict bodies take no text for a number
        const isText = bodies === "strict" && made === 201 && json !== text;
        assertEquals([json, statuses], [json, isText ? [400, 404, 201] : [made, read, put]]);
        await getModel(Thing).collection.deleteMany({});
      }
    }
  }
});
