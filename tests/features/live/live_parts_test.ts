import { assertEquals } from "@std/assert";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  remove,
  rest,
  update,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { mountLive, openLive } from "./live.ts";
import { client } from "../../support/client.ts";
import { until } from "../../support/until.ts";

/** Rooms that nobody may see any more. */
const closed = new Set<string>();

class Guest extends FrameworkModel {
  @prop()
  name?: string;
}

class Chair extends FrameworkModel {
  @prop()
  color?: string;
}

@rest({
  route: "/rooms",
  scope: () => ({ _id: { $nin: [...closed] } }),
  methods: [one(), create(), update(), remove()],
})
class Room extends FrameworkModel {
  @prop()
  name?: string;
  @rest({ route: "/guests", methods: [all<Guest>({ live: true }), create(), update(), remove()] })
  @arrayProp({ items: Guest })
  guests?: Ref<Guest>[];
  @rest({
    route: "/chairs",
    methods: [all<Chair>({ live: true, sort: ["color"] }), create(), update(), remove()],
  })
  @arrayProp({ items: Chair, embedded: true })
  chairs?: Chair[];
}

/** Serves two rooms. */
async function openRooms() {
  const app = await mountLive([Room], {
    limits: { live: { renewMS: 60_000 } },
  });
  const { _id } = await app.created("/rooms", { name: "one" });
  const { _id: other } = await app.created("/rooms", { name: "two" });
  return { app, url: `${app.url}/rooms/${_id}`, other: `${app.url}/rooms/${other}`, id: _id };
}

test("a live list of references has what its parent refers to, and as it is", async () => {
  const { app, url, other } = await openRooms();
  await using _app = app;
  const guests = client(`${url}/guests`);
  const ann = await guests.created("", { name: "Ann" });
  await using live = await openLive(`${url}/guests`);
  await live.ready();
  assertEquals(live.taken(), "put ready");
  await guests.updated(`/${ann._id}`, { name: "Anna" });
  await live.came(1);
  await client(`${other}/guests`).created("", { name: "Foreign" });
  const bob = await guests.created("", { name: "Bob" });
  await live.came(2);
  assertEquals(live.items.map(({ name }) => name), ["Anna", "Bob"]);
  await getModel(Room).updateOne({ name: "one" }, { $pull: { guests: ann._id } });
  await live.came(3);
  await getModel(Guest).deleteOne({ _id: bob._id });
  await live.came(4);
  assertEquals(live.taken(), "put put drop drop");
});

test("a live list of what a parent embeds changes with it", async () => {
  const { app, url } = await openRooms();
  await using _app = app;
  const chairs = client(`${url}/chairs`);
  await using live = await openLive(`${url}/chairs?sort=color`);
  await live.ready();
  const red = await chairs.created("", { color: "red" });
  await live.came(2);
  await chairs.created("", { color: "blue" });
  await live.came(3);
  assertEquals(live.items.map(({ color }) => color), ["blue", "red"]);
  await chairs.delete(`/${red._id}`);
  await live.came(4);
  assertEquals(live.text, (await chairs.get("?sort=color")).text);
});

test("a live list below a parent that its reader may no longer see ends", async () => {
  const { app, url, id } = await openRooms();
  await using _app = app;
  await using guests = await openLive(`${url}/guests`);
  await using chairs = await openLive(`${url}/chairs`);
  await Promise.all([guests.ready(), chairs.ready()]);
  await getModel(Room).updateOne({ _id: id }, { name: "still there" });
  await new Promise((resolve) => setTimeout(resolve, 300));
  assertEquals([guests.hasEnded, chairs.hasEnded], [false, false]);
  closed.add(id);
  await getModel(Room).updateOne({ _id: id }, { name: "closed" });
  await until(() => guests.hasEnded && chairs.hasEnded);
  closed.clear();
});

test("a live list below a parent that is gone ends", async () => {
  const { app, url, id } = await openRooms();
  await using _app = app;
  await using guests = await openLive(`${url}/guests`);
  await guests.ready();
  await app.delete(`/rooms/${id}`);
  await until(() => guests.hasEnded);
});
