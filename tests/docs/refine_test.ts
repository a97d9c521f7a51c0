import { assertEquals, assertRejects } from "@std/assert";
import { test } from "../harness/testing.ts";
import { app as films } from "../../examples/data_providers/app.ts";
import { openApp } from "./recipes/open_recipe.ts";
import type { Film, Provider } from "./recipes/refine_provider.d.ts";
import { NOBODY } from "../support/support.ts";
// Its own types are those of a whole user interface
// @ts-types="./recipes/refine_provider.d.ts"
import provide from "npm:@refinedev/simple-rest@6";

type Fields = Record<string, unknown>;

interface Stage {
  readonly api: Provider;
  readonly ids: readonly string[];
}

const resource = "films";

const FILMS = [["Metropolis", 1927], ["Alien", 1979], ["Stalker", 1979]] as const;

async function titles({ api }: Stage, params: Fields): Promise<unknown[]> {
  return (await api.getList({ resource, ...params })).data.map(({ title }) => title);
}

const OPERATIONS: Record<string, (stage: Stage) => Promise<void>> = {
  async getList({ api, ids }) {
    const { data, total } = await api.getList({ resource });
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
    assertEquals((await api.getOne({ resource, id })).data.title, "Alien");
  },
  async getMany({ api, ids: [first, , third] }) {
    const { data } = await api.getMany({ resource, ids: [first, third] });
    assertEquals(data.map(({ id }) => id), [first, third]);
  },
  async create({ api }) {
    const { data } = await api.create({ resource, variables: { title: "Ran", year: 1985 } });
    assertEquals((await api.getOne({ resource, id: data.id })).data, data);
  },
  async update({ api, ids: [id] }) {
    const { data } = await api.update({ resource, id, variables: { year: 1926 } });
    assertEquals([data.id, data.title, data.year], [id, "Metropolis", 1926]);
    const variables = { ...data, year: 1927 };
    assertEquals((await api.update({ resource, id, variables })).data, { ...variables, __v: 2 });
    const stale = await assertRejects(() => api.update({ resource, id, variables })) as Fields;
    assertEquals(stale.statusCode, 409);
  },
  async deleteOne({ api, ids: [id] }) {
    assertEquals((await api.deleteOne({ resource, id })).data.id, id);
    assertEquals((await api.getList({ resource })).total, 2);
  },
  async sorting(stage) {
    const sorters = [{ field: "year", order: "desc" }, { field: "title", order: "desc" }];
    assertEquals(await titles(stage, { sorters }), ["Stalker", "Alien", "Metropolis"]);
    const byId = [{ field: "id", order: "desc" }];
    assertEquals(await titles(stage, { sorters: byId }), ["Stalker", "Alien", "Metropolis"]);
  },
  async filtering(stage) {
    const filtered = (...filters: [field: string, operator: string, value: unknown][]) =>
      titles(stage, {
        filters: filters.map(([field, operator, value]) => ({ field, operator, value })),
      });
    assertEquals(await filtered(["year", "eq", 1979]), ["Alien", "Stalker"]);
    assertEquals(await filtered(["year", "ne", 1979]), ["Metropolis"]);
    assertEquals(await filtered(["year", "gte", 1928], ["year", "lte", 1980]), [
      "Alien",
      "Stalker",
    ]);
    assertEquals(await filtered(["title", "contains", "AL"]), ["Alien", "Stalker"]);
    assertEquals(await filtered(["q", "eq", "metro"]), ["Metropolis"]);
  },
  async "pagination and totals"({ api }) {
    const pageOf = async (currentPage: number) => {
      const { data, total } = await api.getList({
        resource,
        pagination: { currentPage, pageSize: 2 },
      });
      return [data.length, total];
    };
    assertEquals([await pageOf(1), await pageOf(2), await pageOf(3)], [[2, 3], [1, 3], [0, 3]]);
  },
  async custom({ api }) {
    const url = `${api.getApiUrl()}/films`;
    const filters = [{ field: "year", operator: "eq", value: 1927 }];
    const { data } = await api.custom({ url, method: "get", filters });
    assertEquals((data as Film[]).map(({ title }) => title), ["Metropolis"]);
    const payload = { title: "Ran" };
    assertEquals(((await api.custom({ url, method: "post", payload })).data as Film).title, "Ran");
  },
  async errors({ api }) {
    const missing = await assertRejects(() => api.getOne({ resource, id: NOBODY })) as Fields;
    assertEquals([missing.statusCode, missing.message], [404, "No such entity"]);
    const invalid = await assertRejects(() => api.create({ resource, variables: {} })) as {
      response: { data: Fields };
      errors?: unknown;
    };
    assertEquals(invalid.errors, undefined);
    assertEquals(invalid.response.data.errors, { title: "Path `title` is required." });
  },
};

for (const [operation, check] of Object.entries(OPERATIONS)) {
  test(`@refinedev/simple-rest works with the adapter of examples/data_providers: ${operation}`, async () => {
    await using app = await openApp(films);
    const ids: string[] = [];
    for (const [title, year] of FILMS) {
      ids.push((await app.created("/admin/films", { title, year }))._id);
    }
    await check({ api: provide(`${app.url}/admin`), ids });
  });
}
