import { assertEquals } from "@std/assert";
import type { Document, SaveOptions, Schema } from "mongoose";
import {
  action,
  arrayProp,
  create,
  type Entity,
  FrameworkModel,
  getModel,
  one,
  prop,
  rest,
  update,
} from "../../mod.ts";
import type { ModelClass } from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import { test } from "../harness/testing.ts";
import { gate } from "../support/race.ts";
import { mount } from "../support/support.ts";

/** What is stored of the only entity of a model. */
async function storedOf(model: ModelClass): Promise<Record<string, unknown>> {
  return await getModel(model).collection.findOne() as Record<string, unknown>;
}

/** Stores an entity of a model as it is, and gives its identifier. */
async function put(model: ModelClass, stored: object = {}): Promise<string> {
  const { collection } = getModel(model);
  return String((await collection.insertOne({ __v: 0, ...stored } as never)).insertedId);
}

@rest({
  route: "/tasks",
  methods: [update<Task>({
    preSave(_req, task) {
      task.dates?.[0]?.setUTCFullYear(2001);
      (task as unknown as Document).markModified("dates");
      return task;
    },
  })],
})
class Task extends FrameworkModel {
  @prop()
  name?: string;
  @arrayProp({ items: Date })
  dates?: Date[];
}

test("a hook may change a date of a list in place", async () => {
  await using app = await mount([Task]);
  const id = await put(Task, { dates: [new Date("2020-01-01")] });
  assertEquals((await app.patch(`/tasks/${id}`, { name: "a" })).status, 200);
  assertEquals((await storedOf(Task)).dates, [new Date("2001-01-01")]);
});

class Position extends FrameworkModel {
  @prop({ type: Number })
  lat?: number;
  @prop({ type: Number })
  lng?: number;
}

const move = action("move", {
  on: "one",
  async run(_req, spot: Entity<Spot>) {
    spot.name = "moved";
    await spot.save();
    if (spot.at) spot.at.lat = 1;
    return await spot.save();
  },
});

@rest({ route: "/spots", methods: [move] })
class Spot extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Position, default: (() => ({ lat: 0, lng: 5 })) as never })
  at?: Position;
}

test("the second save of an action stores a default that it has changed as a whole", async () => {
  await using app = await mount([Spot]);
  const id = await put(Spot);
  const { status, body } = await app.post<{ at: Position }>(`/spots/${id}/move`);
  const { at } = await storedOf(Spot) as { at: Position };
  const shown = [body.at, at].map(({ lat, lng }) => [lat, lng]);
  assertEquals([status, shown], [200, [[1, 5], [1, 5]]]);
});

/** What Mongoose's types leave out of a document. */
interface Stamping {
  $timestamps(stamps: boolean): void;
}

const edit = action("edit", {
  on: "one",
  async run(_req, note: Entity<Note>) {
    note.name = "edited";
    return await note.save({ timestamps: false });
  },
});

@rest({
  route: "/notes",
  schemaOptions: { timestamps: true },
  methods: [
    edit,
    update<Note>({
      preSave(_req, note) {
        (note as unknown as Stamping).$timestamps(false);
        return note;
      },
    }),
  ],
})
class Note extends FrameworkModel {
  @prop()
  name?: string;
}

test("$timestamps(false) and save({ timestamps: false }) renew no timestamps", async () => {
  await using app = await mount([Note]);
  const updatedAt = new Date("2020-01-01");
  const path = `/notes/${await put(Note, { updatedAt })}`;
  assertEquals((await app.patch(path, { name: "patched" })).status, 200);
  const patched = await storedOf(Note);
  assertEquals([patched.name, patched.updatedAt], ["patched", updatedAt]);
  assertEquals((await app.post(`${path}/edit`)).status, 200);
  const edited = await storedOf(Note);
  assertEquals([edited.name, edited.updatedAt], ["edited", updatedAt]);
});

test("save middleware of an embedded document gets the options of the save", async () => {
  const sessions: unknown[] = [];
  class Address extends FrameworkModel {
    static override configure(schema: Schema): void {
      schema.pre("save", (options: SaveOptions) => void sessions.push(options.session));
    }
    @prop()
    city?: string;
  }
  @rest({ route: "/holders", methods: [create()] })
  class Holder extends FrameworkModel {
    @prop({ type: Address })
    address?: Address;
  }
  await using app = await mount([Holder], { onError: () => {} });
  assertEquals((await app.post("/holders", { address: { city: "a" } })).status, 201);
  assertEquals(sessions, [undefined]);
});

test("optimisticConcurrency binds changes of what it excludes to no version", async () => {
  const schemaOptions = { optimisticConcurrency: { exclude: ["name", "state"] } };
  @rest({ route: "/viewed", methods: [update({ preSave: gate(2) })], schemaOptions })
  class Viewed extends FrameworkModel {
    @prop()
    name?: string;
    @prop()
    state?: string;
  }
  await using app = await mount([Viewed]);
  const path = `/viewed/${await put(Viewed)}`;
  const bodies = [{ name: "b" }, { state: "b" }];
  const replies = await Promise.all(bodies.map((body) => app.patch(path, body)));
  assertEquals(replies.map(({ status }) => status), [200, 200]);
});

/** Saves an entity as soon as it is read. */
async function saveAtOnce(_req: unknown, page: Entity<Page>): Promise<Entity<Page>> {
  page.log?.push("read");
  return await page.save() as Entity<Page>;
}

const touch = action("touch", {
  on: "one",
  postFetch: saveAtOnce,
  async run(_req, page: Entity<Page>) {
    page.name = "touched";
    return await page.save();
  },
});

@rest({ route: "/pages", methods: [touch, update<Page>({ postFetch: saveAtOnce })] })
class Page extends FrameworkModel {
  @prop()
  name?: string;
  @arrayProp({ items: String })
  log?: string[];
}

test("a postFetch hook may save the entity before the request does", async (t) => {
  await using app = await mount([Page]);
  const path = `/pages/${await put(Page)}`;
  await t.step("the answer has the version that is stored", async () => {
    const { __v } = await app.updated(path, { name: "patched" });
    assertEquals(__v, (await storedOf(Page)).__v);
  });
  await t.step("the request may replace the list that the hook has changed", async () => {
    assertEquals((await app.patch(path, { log: [] })).status, 200);
    assertEquals((await storedOf(Page)).log, []);
  });
  await t.step("an action may save it again", async () => {
    assertEquals((await app.post(`${path}/touch`)).status, 200);
    const { name, log } = await storedOf(Page);
    assertEquals([name, log], ["touched", ["read"]]);
  });
});

class Item extends FrameworkModel {
  static override configure(schema: Schema): void {
    schema.path("tags").default(() => ["new"]);
  }
  @arrayProp({ items: String })
  tags?: string[];
}

@rest({ route: "/carts", methods: [one()] })
class Cart extends FrameworkModel {
  @rest({ methods: [create()] })
  @arrayProp({ items: Item, embedded: true })
  items?: Item[];
}

test("a default that configure() sets on a list is that of parts, too", async () => {
  await using app = await mount([Cart]);
  const { tags } = await app.created(`/carts/${await put(Cart)}/items`, {});
  assertEquals(tags, ["new"]);
});

test("save middleware sees the paths and the operation that a save of Mongoose shows it", async () => {
  const seen: unknown[] = [];
  @rest({ route: "/watched", methods: [update({ preSave: pass })] })
  class Watched extends FrameworkModel {
    static override configure(schema: Schema): void {
      schema.pre("save", function (this: Document) {
        seen.push(this.modifiedPaths(), this.$op);
      });
    }
    @prop()
    name?: string;
  }
  await using app = await mount([Watched]);
  await app.updated(`/watched/${await put(Watched)}`, { name: "b" });
  assertEquals(seen, [["name"], "save"]);
});

class Meta extends FrameworkModel {
  @prop({ type: Object })
  data?: object;
}

@rest({
  route: "/uploads",
  methods: [create({ preSave: pass })],
  schemaOptions: { minimize: true },
})
class Upload extends FrameworkModel {
  @prop({ type: Meta })
  meta?: Meta;
}

test("minimize of an entity takes no empty object out of what it embeds", async () => {
  await using app = await mount([Upload]);
  await app.created("/uploads", { meta: { data: {} } });
  assertEquals(((await storedOf(Upload)).meta as Meta).data, {});
});
