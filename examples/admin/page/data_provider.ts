import type { FrameworkModel, Resource } from "@mongrove/mongrove/client";
import type { DataProvider, DeleteParams, Identifier, RaRecord } from "react-admin";
import { conflict, fileError, isConflict, isSame } from "./errors.ts";
import { storedNow, withFieldErrors } from "./errors.ts";
import { api, type Entity, LISTS, movies, PAGE_SIZE } from "./lists.ts";

/** What react-admin calls. */
export const dataProvider: DataProvider = {
  async getList(resource, params) {
    const { items, total } = await listOf(resource)({ filter: {}, ...params });
    if (total !== undefined) return { data: toRecords(items), total };
    const hasPreviousPage = (params.pagination?.page ?? 1) > 1;
    const hasNextPage = items.length === PAGE_SIZE;
    return { data: toRecords(items), pageInfo: { hasPreviousPage, hasNextPage } };
  },
  getManyReference: (resource, { target, id, filter, ...params }) =>
    dataProvider.getList(resource, { ...params, filter: { ...filter, [target]: id } }),
  async getMany(resource, { ids }) {
    const lists = chunksOf(ids).map((chunk) => listOf(resource)({ filter: { ids: chunk } }));
    return { data: toRecords((await Promise.all(lists)).flatMap(({ items }) => items)) };
  },
  async getOne(resource, { id }) {
    return { data: toRecord(await open(resource).one(String(id))) };
  },
  async create(resource, { data }) {
    return { data: toRecord(await open(resource).create(data).catch(withFieldErrors)) };
  },
  // A patch of what was changed, on the condition that nothing else has changed since
  async update(resource, { id, data, previousData: before }) {
    const { poster, ...changes } = Object.fromEntries(
      Object.entries(data).filter(([field, value]) => !isSame(value, before[field])),
    );
    try {
      const saved = await open(resource).update(id, changes, { ifMatch: before });
      if (poster === undefined) return { data: toRecord(saved) };
      await setPoster(id, poster?.rawFile);
      return await dataProvider.getOne(resource, { id });
    } catch (error) {
      if (!isConflict(error)) return withFieldErrors(error);
      throw conflict(storedNow(changes, { before, now: await open(resource).one(id) }));
    }
  },
  async delete<R extends RaRecord>(resource: string, { id, previousData }: DeleteParams<R>) {
    const removed = open(resource).remove(String(id), { ifMatch: previousData });
    await removed.catch((error) => Promise.reject(isConflict(error) ? conflict() : error));
    return { data: { id, ...previousData } as R };
  },
  async updateMany(resource, { ids, data }) {
    await open(resource).updateAll(data, selected(ids)).catch(withFieldErrors);
    return { data: ids };
  },
  async deleteMany(resource, { ids }) {
    await open(resource).removeAll(selected(ids));
    return { data: ids };
  },
};

function open(resource: string): Resource<FrameworkModel> {
  return api.resource(`/${resource}`);
}

/** Stores the file of a form, or removes it. It has a route of its own. */
async function setPoster(id: Identifier, chosen: File | undefined): Promise<void> {
  const poster = movies.file("poster", String(id));
  await (chosen ? poster.put(chosen) : poster.remove()).catch((error) => {
    throw fileError("poster", error);
  });
}

/** What is ticked, and no more than that. */
function selected(ids: readonly Identifier[]) {
  return { q: { _id: { $in: ids.map(String) } }, maxAffected: ids.length };
}

function listOf(resource: string) {
  const list = LISTS[resource];
  if (!list) throw new TypeError(`Cannot list "${resource}"`);
  return list;
}

/** React-admin wants an `id`, and the place of a picture, which is another one for another picture. */
function toRecord<R extends RaRecord>({ poster, ...entity }: Entity): R {
  const shown = poster &&
    { ...poster, title: poster.name, src: `/movies/${entity._id}/poster#${poster.sha256}` };
  return { ...entity, id: entity._id, ...shown && { poster: shown } } as RaRecord as R;
}

function toRecords<R extends RaRecord>(entities: readonly Entity[]): R[] {
  return entities.map((entity) => toRecord(entity));
}

/** Identifiers in parts whose entities fit into one answer. */
function chunksOf(ids: readonly Identifier[]): string[][] {
  const texts = ids.map(String);
  const starts = texts.keys().filter((at) => at % PAGE_SIZE === 0);
  return [...starts].map((at) => texts.slice(at, at + PAGE_SIZE));
}
