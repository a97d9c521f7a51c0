import { assertEquals, assertRejects } from "@std/assert";
import { test } from "../harness/testing.ts";
import { app as films } from "../../examples/data_providers/app.ts";
import { openApp, type OpenRecipe } from "./recipes/open_recipe.ts";
import type { Provider } from "./recipes/react_admin_provider.d.ts";
import { NOBODY } from "../support/support.ts";
// The providers of later releases are the same, but Deno cannot load the modules of their `ra-core`.
// Their own types are those of a whole user interface
// @ts-types="./recipes/react_admin_provider.d.ts"
import jsonServer from "npm:ra-data-json-server@5.12";
// @ts-types="./recipes/react_admin_provider.d.ts"
import simpleRest from "npm:ra-data-simple-rest@5.12";

type Fields = Record<string, unknown>;

/** What an operation finds: three films, and two reviews of the first. */
interface Stage {
  readonly api: Provider;
  readonly ids: readonly string[];
}

const sort = { field: "id", order: "ASC" };
const pagination = { page: 1, perPage: 10 };
const every = { sort, pagination, filter: {} };

const FILMS = [["Metropolis", 1927], ["Alien", 1979], ["Stalker", 1979]] as const;

async function titles({ api }: Stage, params: Fields): Promise<unknown[]> {
  const { data } = await api.getList("films", { ...every, ...params });
  return data.map(({ title }) => title);
}

/** The operations of a data provider, and what a list takes. */
const OPERATIONS: Record<string, (stage: Stage) => Promise<void>> = {
  async getList({ api, ids }) {
    const { data, total } = await api.getList("films", every);
    assertEquals<unknown>(data[0], {
      id: ids[0],
      _id: ids[0],
      title: "Metropolis",
      year: 1927,
      __v: 0,
    });
    assertEquals([data.map(({ id }) => id), total], [ids, 3]);
  },
  async getOne({ api, ids: [, id] }) {
    const { data } = await api.getOne("films", { id });
    assertEquals([data.id, data.title], [id, "Alien"]);
  },
  async getMany({ api, ids: [first, , third] }) {
    const { data } = await api.getMany("films", { ids: [first, third] });
    assertEquals(data.map(({ id }) => id), [first, third]);
    const made = Array.from(
      { length: 26 },
      (_, n) => api.create("films", { data: { title: `Film ${n}` } }),
    );
    const ids = (await Promise.all(made)).map(({ data: { id } }) => id);
    assertEquals((await api.getMany("films", { ids })).data.length, ids.length);
  },
  async getManyReference({ api, ids: [id] }) {
    const params = { ...every, target: "film", id, sort: { field: "stars", order: "DESC" } };
    const { data, total } = await api.getManyReference("reviews", params);
    assertEquals([data.map(({ stars }) => stars), total], [[5, 3], 2]);
  },
  async create({ api }) {
    const { data } = await api.create("films", { data: { title: "Ran", year: 1985 } });
    assertEquals((await api.getOne("films", { id: data.id })).data, data);
  },
  async update({ api, ids: [id] }) {
    const { data: previousData } = await api.getOne("films", { id });
    const data = { ...previousData, title: "Metropolis (restored)" };
    const params = { id, data, previousData };
    assertEquals((await api.update("films", params)).data, { ...data, __v: 1 });
    const stale = await assertRejects(() => api.update("films", params), Error);
    assertEquals("status" in stale && stale.status, 409);
  },
  async updateMany({ api, ids: [first, second] }) {
    const ids = [first, second];
    assertEquals((await api.updateMany("films", { ids, data: { year: 2000 } })).data, ids);
    assertEquals(await titles({ api, ids: [] }, { filter: { year: 2000 } }), [
      "Metropolis",
      "Alien",
    ]);
  },
  async delete({ api, ids: [id] }) {
    assertEquals((await api.delete("films", { id, previousData: { id } })).data.id, id);
    assertEquals((await api.getList("films", every)).total, 2);
  },
  async deleteMany({ api, ids: [first, second, third] }) {
    const ids = [first, second];
    assertEquals((await api.deleteMany("films", { ids })).data, ids);
    assertEquals((await api.getList("films", every)).data.map(({ id }) => id), [third]);
  },
  async sorting(stage) {
    const by = (field: string, order: string) => titles(stage, { sort: { field, order } });
    assertEquals(await by("title", "ASC"), ["Alien", "Metropolis", "Stalker"]);
    assertEquals(await by("year", "DESC"), ["Alien", "Stalker", "Metropolis"]);
    assertEquals(await by("id", "DESC"), ["Stalker", "Alien", "Metropolis"]);
  },
  async filtering(stage) {
    const filtered = (filter: Fields) => titles(stage, { filter });
    assertEquals(await filtered({ year: 1979 }), ["Alien", "Stalker"]);
    assertEquals(await filtered({ year_gte: 1970, title_like: "AL" }), ["Alien", "Stalker"]);
    assertEquals(await filtered({ title_like: "l.e" }), []);
    assertEquals(await filtered({ year_ne: 1979 }), ["Metropolis"]);
    assertEquals(await filtered({ q: "metro" }), ["Metropolis"]);
  },
  async "pagination and totals"({ api }) {
    const pageOf = async (page: number) => {
      const params = { ...every, pagination: { page, perPage: 2 } };
      const { data, total } = await api.getList("films", params);
      return [data.length, total];
    };
    assertEquals([await pageOf(1), await pageOf(2), await pageOf(3)], [[2, 3], [1, 3], [0, 3]]);
  },
  async errors({ api }) {
    const missing = await assertRejects(() => api.getOne("films", { id: NOBODY }), Error);
    assertEquals([missing.message, "status" in missing && missing.status], ["No such entity", 404]);
    const invalid = await assertRejects(() => api.create("films", { data: { year: 1 } }), Error);
    const { errors } = "body" in invalid ? invalid.body as { errors: Fields } : { errors: {} };
    assertEquals(Object.keys(errors).sort(), ["title", "year"]);
    assertEquals(errors.title, "Path `title` is required.");
    await assertRejects(() => api.getList("films", { ...every, filter: { no: 1 } }), Error, "no");
  },
};

async function stage(app: OpenRecipe, provide: (url: string) => Provider): Promise<Stage> {
  const ids: string[] = [];
  for (const [title, year] of FILMS) {
    ids.push((await app.created("/admin/films", { title, year }))._id);
  }
  for (const stars of [3, 5]) await app.created("/admin/reviews", { film: ids[0], stars });
  await app.created("/admin/reviews", { film: ids[1], stars: 4 });
  return { api: provide(`${app.url}/admin`), ids };
}

const PROVIDERS = {
  "ra-data-simple-rest": simpleRest.default,
  "ra-data-json-server": jsonServer.default,
};

for (const [name, provide] of Object.entries(PROVIDERS)) {
  for (const [operation, check] of Object.entries(OPERATIONS)) {
    test(`${name} works with the adapter of examples/data_providers: ${operation}`, async () => {
      await using app = await openApp(films);
      await check(await stage(app, provide));
    });
  }
}
