import { assertEquals, assertNotMatch } from "@std/assert";
import mongoose from "mongoose";
import {
  arrayProp,
  type Entity,
  FrameworkModel,
  getModel,
  one,
  prop,
  rest,
  RestError,
  update,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { mount } from "../support/support.ts";

/** Another request that writes between the read and the statement of the next update. */
let between: (() => Promise<unknown>) | undefined;

async function meet<T>(_req: unknown, entity: T): Promise<T> {
  const other = between;
  between = undefined;
  await other?.();
  return entity;
}

class Secretive extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ type: Number })
  count?: number;
  @prop({ type: Boolean })
  secret?: boolean;
}

const hide = <T extends Secretive>(_req: unknown, entity: Entity<T>) =>
  entity.secret === true ? null : entity;

function refuse<T extends Secretive>(_req: unknown, entity: Entity<T>): Entity<T> {
  if (entity.secret) throw new RestError(403, "Secret");
  return entity;
}

class Part extends Secretive {}

@rest({
  route: "/hidden",
  methods: [one({ postFetch: hide }), update({ postFetch: hide, preSave: meet })],
})
class Hidden extends Secretive {}

@rest({
  route: "/kept",
  methods: [one({ postFetch: refuse }), update({ postFetch: refuse, preSave: meet })],
  history: true,
})
class Kept extends Secretive {}

@rest({ route: "/holders", methods: [one({ postFetch: hide })] })
class Holder extends Secretive {
  @rest({ methods: [one(), update({ preSave: meet })] })
  @arrayProp({ items: Part, embedded: true, apart: false })
  parts!: Part[];
}

@rest({
  route: "/masked",
  methods: [one({ postFetch: hide }), update({ postFetch: hide, preSave: meet })],
})
class Masked extends Secretive {
  @rest({ methods: [one({ postFetch: hide }), update({ postFetch: hide, preSave: meet })] })
  @arrayProp({ items: Part, embedded: true, apart: true })
  parts!: Part[];
}

const SECRET = { secret: true, text: "CONFIDENTIAL" };

test("the answer of a write shows nothing of another request that its guards would hide", async () => {
  await using app = await mount([Hidden, Kept, Holder, Masked], {
    mongo: await sharedReplicaSet(),
  });
  for (const model of [Hidden, Kept, Holder, Masked]) await getModel(model).createCollection();
  for (
    const [model, path, $set] of [
      [Hidden, "/hidden/:id", SECRET],
      [Kept, "/kept/:id", SECRET],
      [Holder, "/holders/:id/parts/:part", { secret: true, "parts.0.text": "CONFIDENTIAL" }],
      [Masked, "/masked/:id/parts/:part", {
        "parts.0.secret": true,
        "parts.0.text": "CONFIDENTIAL",
      }],
    ] as const
  ) {
    const { collection } = getModel(model as typeof Holder);
    const parts = [{ _id: new mongoose.Types.ObjectId(), text: "public" }];
    const { insertedId: _id } = await collection.insertOne(
      { text: "public", parts, __v: 0 } as never,
    );
    between = () => collection.updateOne({ _id }, { $set, $inc: { __v: 1 } } as never);
    const url = path.replace(":id", String(_id)).replace(":part", String(parts[0]?._id));
    const { status, text } = await app.patch(url, { count: 5 });
    assertEquals([path, status], [path, 204], text);
    assertNotMatch(text, /CONFIDENTIAL/);
  }
});
