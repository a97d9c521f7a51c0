import { assertEquals } from "@std/assert";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  type Ref,
  remove,
  rest,
  RestError,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { mount } from "../../support/support.ts";

/** Answers with how many the request selects. */
async function tell(req: FrameworkRequest): Promise<never> {
  throw new RestError(418, { count: await req.framework.count() });
}

/** Asks in `preFetch` where the parameter says so, in `postFetch` otherwise. */
const asked = {
  preFetch: async (req: FrameworkRequest) => req.query.early === undefined || await tell(req),
  postFetch: async (req: FrameworkRequest, entity: object) =>
    req.query.early === undefined && req.headers["x-count"] !== undefined
      ? await tell(req)
      : entity,
};

class Track extends FrameworkModel {
  @prop({ required: true })
  title!: string;

  @prop({ type: Number, default: 0 })
  rank!: number;
}

@rest({ route: "/labels", methods: [create()], scope: () => ({ name: { $ne: "closed" } }) })
class Label extends FrameworkModel {
  @prop({ required: true })
  name!: string;
}

@rest({
  route: "/albums",
  methods: [all(asked), one(), create(), remove(asked)],
  scope: (req) => req.headers["x-tenant"] === undefined ? {} : { tenant: req.headers["x-tenant"] },
})
class Album extends FrameworkModel {
  @prop({ required: true })
  name!: string;

  @prop()
  tenant?: string;

  @rest({ methods: [all(asked)], scope: () => ({ rank: { $lt: 9 } }) })
  @arrayProp({ items: Track, embedded: true, apart: false })
  tracks?: Track[];

  @rest({ methods: [all(asked), one(asked), create()] })
  @arrayProp({ items: () => Label })
  labels?: Ref<Label>[];

  @arrayProp({ items: Number, index: "2dsphere" })
  place?: number[];
}

const COUNTED = { headers: { "x-count": "1" } };
const MODELS = [Album, Label];
const q = (filter: object) => `q=${encodeURIComponent(JSON.stringify(filter))}`;

async function seeded() {
  const api = await mount(MODELS);
  const tracks = [{ title: "a" }, { title: "b", rank: 1 }, { title: "c", rank: 9 }];
  const { _id } = await api.created("/albums", { name: "x", tenant: "t", tracks, place: [1, 1] });
  await api.created("/albums", { name: "y", tenant: "t" });
  await api.created("/albums", { name: "z", tenant: "u" });
  for (const name of ["one", "two", "closed"]) await api.post(`/albums/${_id}/labels`, { name });
  return { api, at: `/albums/${_id}` };
}

for (const early of ["", "early&"]) {
  const phase = early === "" ? "postFetch" : "preFetch";
  test(`count() in ${phase} counts what q, the filter and the scope select`, async () => {
    const { api, at } = await seeded();
    await using _api = api;
    const tenant = { headers: { "x-count": "1", "x-tenant": "t" } };
    const bodies = [
      await api.get(`/albums?${early}`, COUNTED),
      await api.get(`/albums?${early}${q({ name: { $gt: "x" } })}`, COUNTED),
      await api.get(`/albums?${early}`, tenant),
      await api.get(`${at}/tracks?${early}`, COUNTED),
      await api.get(`${at}/tracks?${early}${q({ rank: 1 })}`, COUNTED),
      await api.get(`${at}/labels?${early}`, COUNTED),
    ].map(({ body }) => body);
    assertEquals(bodies, [3, 2, 2, 2, 1, 2].map((count) => ({ count })));
  });
}

test("count() of one entity counts what the operation could name", async () => {
  const { api, at } = await seeded();
  await using _api = api;
  const { body } = await api.delete(at, COUNTED);
  assertEquals(body, { count: 3 });
});

test("count() gives 0 for what selects nothing", async () => {
  const { api, at } = await seeded();
  await using _api = api;
  const none = q({ _id: "000000000000000000000000" });
  const bodies = [
    await api.get(`/albums?early&${none}`),
    await api.get(`${at}/tracks?early&${none}`),
    await api.get(`${at}/labels?early&${none}`),
  ].map(({ body }) => body);
  assertEquals(bodies, [{ count: 0 }, { count: 0 }, { count: 0 }]);
});

test("count() leaves pages aside", async () => {
  @rest({
    route: "/pages",
    methods: [
      create(),
      all({
        preFetch: (req) => {
          Object.assign(req.framework.options, { limit: 1, skip: 1, sort: "name" });
          return true;
        },
        postFetch: async (req, page) => ({ name: page.name, of: await req.framework.count() }),
      }),
    ],
  })
  class Page extends FrameworkModel {
    @prop()
    name?: string;
  }
  await using api = await mount([Page]);
  for (const name of ["x", "y", "z"]) await api.created("/pages", { name });
  assertEquals(await api.read<unknown[]>("/pages"), [{ name: "y", of: 3 }]);
});

for (
  const [how, narrow] of [
    ["changes", (req: FrameworkRequest) => void (req.framework.filter.name = "x")],
    [
      "replaces",
      (req: FrameworkRequest) => {
        req.framework = { ...req.framework, filter: { name: "x" } };
      },
    ],
  ] as const
) {
  test(`count() in preFetch counts with a filter that the hook ${how}, and keeps it`, async () => {
    @rest({
      route: "/own",
      methods: [
        create(),
        all({
          preFetch: async (req) => {
            narrow(req);
            const counts = [req.framework.count(), req.framework.count()];
            return String(await Promise.all(counts)) === "1,1";
          },
        }),
      ],
    })
    class Own extends FrameworkModel {
      @prop()
      name?: string;
    }
    await using api = await mount([Own]);
    for (const name of ["x", "y"]) await api.created("/own", { name });
    const names = (await api.read<{ name: string }[]>("/own")).map(({ name }) => name);
    assertEquals(names, ["x"]);
  });
}

test("count() that fails in preFetch of a part leaves the part its filter", async () => {
  @rest({
    route: "/hidden",
    methods: [
      create(),
      one({ postFetch: (req, folder) => req.method === "GET" && asksTwice() ? folder : null }),
    ],
  })
  class Folder extends FrameworkModel {
    @rest({
      methods: [all({
        preFetch: async (req) => {
          req.framework.filter.title = "a";
          await req.framework.count().catch(() => {});
          return true;
        },
      })],
    })
    @arrayProp({ items: Track, embedded: true })
    tracks?: Track[];
  }
  let asked = 0;
  // The first time, which is that of count(), the parent is not there.
  const asksTwice = () => asked++ > 0;
  await using api = await mount([Folder]);
  const { _id } = await api.created("/hidden", { tracks: [{ title: "a" }, { title: "b" }] });
  const tracks = await api.read<{ title: string }[]>(`/hidden/${_id}/tracks`);
  assertEquals(tracks.map(({ title }) => title), ["a"]);
});

test("count() knows $near, which the database cannot count", async () => {
  const { api } = await seeded();
  await using _api = api;
  // The database needs the index for it, which is built meanwhile.
  await getModel(Album).init();
  const near = { place: { $near: { $geometry: { type: "Point", coordinates: [1, 1] } } } };
  assertEquals((await api.get(`/albums?${q(near)}`, COUNTED)).body, { count: 1 });
});

class Room extends FrameworkModel {
  @prop()
  name?: string;
}

test("req.framework.parent is the parent as its reader may see it", async () => {
  const seen: unknown[] = [];
  const rooms = all<Room>({
    preFetch: (req) => seen.push(req.framework.parent) > 0,
    postFetch: (req, room) => {
      seen.push((req.framework.parent as { name: string }).name);
      return room;
    },
  });
  @rest({
    route: "/houses",
    methods: [create(), one({ postFetch: (_req, { _id, name }) => ({ _id, name: `${name}!` }) })],
  })
  class House extends FrameworkModel {
    @prop()
    name?: string;

    @rest({ methods: [rooms] })
    @arrayProp({ items: Room, embedded: true, apart: false })
    rooms?: Room[];
  }
  await using api = await mount([House]);
  const { _id } = await api.created("/houses", { name: "h", rooms: [{ name: "r" }] });
  assertEquals((await api.get(`/houses/${_id}/rooms`)).status, 200);
  assertEquals(seen, [undefined, "h!"]);
});
