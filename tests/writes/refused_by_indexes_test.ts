import { assertEquals } from "@std/assert";
import type { Schema } from "mongoose";
import {
  all,
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  replace,
  rest,
  update,
  updateAll,
} from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import { test } from "../harness/testing.ts";
import { mountOnReplicaSet } from "../support/mount_on_replica_set.ts";
import { type ErrorBody, NOBODY } from "../support/support.ts";

@rest({
  route: "/plain",
  methods: [
    all(),
    one(),
    create({ many: 3, atomic: false }),
    update(),
    replace(),
    updateAll({ fields: ["place", "point", "hash", "language"], max: 9 }),
  ],
})
@rest({
  route: "/hooked",
  methods: [create({ preSend: pass }), update({ preSend: pass }), replace({ preSend: pass })],
})
class Place extends FrameworkModel {
  static override configure(schema: Schema) {
    schema.index({ title: "text" });
    schema.index({ hash: "hashed" });
    schema.index({ point: "2d" });
  }
  @prop()
  title?: string;
  @prop({ type: Object })
  language?: unknown;
  @prop({ type: Object, index: "2dsphere" })
  place?: object;
  @prop({ type: Object })
  point?: unknown;
  @prop({ type: Object })
  hash?: unknown;
  @prop({ hidden: true })
  secret?: string;
}

/** Bodies with a value that an index of MongoDB cannot hold. */
const BODIES = [
  { place: { type: "Point", coordinates: [999, 0] } },
  { place: 5 },
  { title: "a", language: "klingon" },
  { title: "a", language: 5 },
  { hash: [1] },
  { point: [1000, 0] },
  { point: ["a", "b"] },
  { point: { x: 1 } },
  { point: { x: 1, y: "b" } },
];

/** The writes of one entity that is there, and of one that is not. */
function writesOf(id: string): (readonly [method: string, path: string])[] {
  return ["/plain", "/hooked"].flatMap((route) => [
    ["POST", route],
    ["PATCH", `${route}/${id}`],
    ["PUT", `${route}/${id}`],
    ["PUT", `${route}/${NOBODY}`],
  ]);
}

test("a value that an index of the database cannot hold is a 400 without any value", async () => {
  const told: unknown[] = [];
  await using app = await mountOnReplicaSet([Place], {
    onError: (_req, error) => void told.push(error),
  });
  await getModel(Place).init();
  const { _id } = await app.created("/plain", { title: "t", secret: "SECRET" });
  const refused = { code: "BAD_DATA", message: "The data is not valid", errors: {} };
  for (const body of BODIES) {
    const ofAll = "title" in body ? [] : [["PATCH", "/plain?q={}"]] as const;
    for (const [method, path] of [...writesOf(_id), ...ofAll]) {
      const { status, body: answer } = await app.send<ErrorBody>(method, path, { body });
      assertEquals([status, answer], [400, refused], `${method} ${path} ${JSON.stringify(body)}`);
    }
    const { text } = await app.post("/plain", [body, { title: "b" }]);
    const statuses = JSON.parse(text).map(({ status }: { status: number }) => status);
    assertEquals(statuses, [400, 201], JSON.stringify(body));
  }
  assertEquals(told, []);
  const stored = await app.read(`/plain/${_id}`);
  assertEquals([stored.title, stored.__v], ["t", 0]);
});
