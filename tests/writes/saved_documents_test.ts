import { assertEquals, assertThrows } from "@std/assert";
import mongoose from "mongoose";
import type { Document, Schema } from "mongoose";
import {
  action,
  arrayProp,
  create,
  type Entity,
  Framework,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  rest,
  update,
} from "../../mod.ts";
import type { ModelClass } from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

class Comment extends FrameworkModel {
  @prop()
  text?: string;
}

/** What is stored of the only entity of a model. */
async function storedOf(model: ModelClass): Promise<Record<string, unknown>> {
  return await getModel(model).collection.findOne() as Record<string, unknown>;
}

const edit = action<Post>("edit", {
  on: "one",
  async run(_req, post: Entity<Post>) {
    post.comments = [{ text: "first" }] as Comment[];
    post.byName.set("a", { text: "first" } as Comment);
    post.pinned = { text: "first" } as Comment;
    await post.save();
    const all = [...post.comments ?? [], post.byName.get("a"), post.pinned];
    for (const each of all) Object.assign(each ?? {}, { text: "second" });
    return await post.save();
  },
});

@rest({ route: "/posts", methods: [edit] })
class Post extends FrameworkModel {
  @arrayProp({ items: Comment, embedded: true })
  comments?: Comment[];
  @prop({ type: Comment })
  pinned?: Comment;
  @prop({ type: Map, of: Comment })
  byName!: Map<string, Comment>;
}

test("what a save has put into an entity can be changed by the next save", async () => {
  await using app = await mount([Post]);
  const { _id } = await getModel(Post).create({ byName: {} } as never);
  assertEquals((await app.post(`/posts/${_id}/edit`)).status, 200);
  const { comments, pinned, byName } = await storedOf(Post) as {
    comments: Comment[];
    pinned: Comment;
    byName: Record<string, Comment>;
  };
  assertEquals([comments[0]?.text, pinned.text, byName.a?.text], ["second", "second", "second"]);
});

test("middleware after a save sees nothing in it as new", async () => {
  const seen: boolean[] = [];
  @rest({ route: "/posts", methods: [create({ preSave: pass }), update({ preSave: pass })] })
  class Noted extends FrameworkModel {
    static override configure(schema: Schema): void {
      schema.post("save", function (this: Document) {
        seen.push(...[this, ...this.$getAllSubdocs()].map(({ isNew }) => isNew));
      });
    }
    @arrayProp({ items: Comment, embedded: true })
    comments?: Comment[];
  }
  await using app = await mount([Noted]);
  const { _id } = await app.created("/posts", { comments: [{ text: "a" }] });
  await app.patch(`/posts/${_id}`, { comments: [{ text: "b" }] });
  assertEquals(seen, [false, false, false, false]);
});

test("a value that is set back after a save is saved, though Mongoose saved the entity before", async () => {
  const lock = action<Door>("lock", {
    on: "one",
    async postFetch(_req, door: Entity<Door>) {
      door.seen = new Date();
      return await door.save() as Entity<Door>;
    },
    async run(_req, door: Entity<Door>) {
      door.locked = true;
      await door.save();
      door.locked = false;
      return await door.save();
    },
  });
  @rest({ route: "/doors", methods: [lock] })
  class Door extends FrameworkModel {
    @prop({ type: Boolean })
    locked!: boolean;
    @prop({ type: Date })
    seen?: Date;
  }
  await using app = await mount([Door]);
  const { _id } = await getModel(Door).create({ locked: false } as never);
  const { status, body } = await app.post<{ locked: boolean }>(`/doors/${_id}/lock`);
  assertEquals([status, body.locked, (await storedOf(Door)).locked], [200, false, false]);
});

test("options of toObject change nothing of what is stored", async () => {
  const options = [{ flattenObjectIds: true }, { useProjection: true }, { versionKey: false }];
  for (const toObject of [...options, { flattenDecimals: true }, { flattenUUIDs: true }]) {
    const collection = `copied_${Object.keys(toObject)}`;
    @rest({
      route: "/copied",
      methods: [create({ preSave: pass }), one()],
      schemaOptions: { toObject, collection },
    })
    class Copied extends FrameworkModel {
      @prop({ ref: Comment })
      comment?: Ref<Comment>;
      @prop({ select: false })
      note?: string;
      @prop({ type: mongoose.Types.Decimal128 })
      price?: mongoose.Types.Decimal128;
    }
    await using app = await mount([Copied]);
    const id = "0123456789abcdef01234567";
    const { status } = await app.post("/copied", { comment: id, note: "n", price: "1.5" });
    const { _id, __v, note, comment, price } = await storedOf(Copied);
    const types = [_id, comment, price].map((value) => Object(value)._bsontype);
    assertEquals(
      [collection, status, __v, note, types],
      [collection, 201, 0, "n", ["ObjectId", "ObjectId", "Decimal128"]],
    );
  }
});

test("an error of another collection in middleware is the host's", async () => {
  const errors: unknown[] = [];
  @rest({ route: "/counted", methods: [update({ preSave: pass })] })
  class Counted extends FrameworkModel {
    static override configure(schema: Schema): void {
      schema.post("save", async function (this: Document) {
        await this.db.collection("stats").updateOne({}, { $inc: { n: 1 } });
      });
    }
    @prop()
    name?: string;
  }
  await using app = await mount([Counted], {
    onError: (_req, error) => void errors.push(error),
  });
  const model = getModel(Counted);
  const { insertedId } = await model.collection.insertOne({ name: "a" } as never);
  await model.db.collection("stats").insertOne({ n: "text" } as never);
  assertEquals((await app.patch(`/counted/${insertedId}`, { name: "b" })).status, 500);
  assertEquals(errors.length, 1);
});

test("a Map without select inside of an object without select is refused at the start", () => {
  class Inner extends FrameworkModel {
    @prop({ type: Map, of: String, select: false })
    words?: Map<string, string>;
  }
  @rest({ route: "/outers", methods: [one()] })
  class Outer extends FrameworkModel {
    @prop({ type: Inner, select: false })
    inner?: Inner;
  }
  const initialize = () => Framework.initialize({ models: [Outer] });
  assertThrows(initialize, TypeError, `"inner.words" needs no "select: false"`);
});
