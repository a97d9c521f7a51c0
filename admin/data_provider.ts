import type { DataProvider, DeleteParams, GetListParams, GetListResult } from "react-admin";
import { HttpError, type RaRecord } from "react-admin";
import type { Operations, PagePart } from "../src/admin/document.ts";
import { isOfNames, readNames } from "./actor_name.tsx";
import { changedBody, isSame, mergePatch, newBody, wholeBody } from "./body.ts";
import { failure, type FailureFacts } from "./failure.ts";
import {
  type Field,
  formFields,
  type Named,
  nameOf,
  partFields,
  pluralOf,
  readableName,
  singularOf,
} from "./fields.ts";
import {
  canChoose,
  canMatchName,
  canSearch,
  chosen,
  listOptions,
  NAME_PART,
} from "./list_query.ts";
import type { AnyResource, Entity, PageAccess } from "./page_context.ts";
import { readResource } from "./part_resource.ts";
import { sendBound } from "./send_bound.ts";
import { START } from "./typed_values.ts";

interface Routes {
  readonly operations: Operations;
  readonly title: readonly string[];
  readonly resource: AnyResource;
  readonly form: readonly Field[];
  readonly singular: string;
  readonly plural: string;
}

function partAt(
  parts: readonly PagePart[],
  [property, ...rest]: readonly string[],
): PagePart | undefined {
  const part = parts.find((each) => each.property === property);
  return part === undefined || rest.length === 0 ? part : partAt(part.parts, rest);
}

export function createDataProvider(
  { document, open }: Pick<PageAccess, "document" | "open">,
): DataProvider {
  const { models } = document;
  const routesOf = (name: string): Routes => {
    const { model: first, below, properties } = readResource(name);
    const model = models.find((each) => each.name === first);
    if (model === undefined) throw new TypeError(`The page has no model "${first}"`);
    if (properties.length === 0) {
      const words = { singular: singularOf(model), plural: pluralOf(model).toLowerCase() };
      const form = formFields(model);
      const { operations, title, path } = model;
      return { operations, title, resource: open(path), form, ...words };
    }
    const part = partAt(model.parts, properties);
    if (part === undefined) throw new TypeError(`The page has no parts "${name}"`);
    const words = readableName(part.property).toLowerCase();
    return {
      operations: part.operations,
      title: part.title,
      resource: open(model.path + below),
      form: partFields(part),
      singular: `entry of "${words}"`,
      plural: words,
    };
  };
  return {
    getList: async (name, params) => {
      const routes = routesOf(name);
      return await attempt(`load ${routes.plural}`, () => readList(routes, params));
    },
    getManyReference: (name, { target, id, filter, ...params }) =>
      createDataProvider({ document, open }).getList(name, {
        ...params,
        filter: { ...filter, [`${target}:is`]: id },
      }),
    getMany: async (name, { ids }) => {
      if (isOfNames(name)) return { data: await readNames(name, ids) as never };
      const found = new Map<unknown, Entity>(
        (await readMany(routesOf(name), ids)).map((entity) => [String(entity._id), entity]),
      );
      // React-admin removes a reference without an entity when the reader changes another reference. So a missing
      // entity is shown by its identifier.
      return { data: toRecords(ids.map((id) => found.get(String(id)) ?? { _id: id as string })) };
    },
    getOne: async (name, { id, meta }) => {
      const { resource, singular } = routesOf(name);
      return await attempt(`load the ${singular}`, async () => ({
        data: toRecord(
          await resource.one(String(id), meta?.populate && { populate: meta.populate }),
        ),
      }));
    },
    create: async (name, { data }) => {
      const { resource, operations, singular } = routesOf(name);
      const form = operations.create?.body ?? [];
      const body = newBody(data, form);
      return await attempt(`create the ${singular}`, async () => ({
        data: toRecord(await resource.create(body)),
      }), { form });
    },
    update: async (name, { id, data, previousData }) => {
      const { resource, operations, form: fields, singular } = routesOf(name);
      if (hasLost(fields, { data, previousData, start: Reflect.get(data, START) })) {
        throw new HttpError("Somebody else has changed this", 412);
      }
      const changes = changedBody(data, { fields, before: previousData });
      const before = { ...previousData, _id: String(id) };
      return await attempt(`save the ${singular}`, async () => ({
        data: toRecord(await sendChanges({ resource, operations }, { before, changes })),
      }), { form: fields });
    },
    delete: async <R extends RaRecord>(name: string, params: DeleteParams<R>) => {
      const { id, previousData, meta } = params;
      const { resource, singular } = routesOf(name);
      const before: Entity = { ...previousData, _id: String(id) };
      const trash = meta?.isTrash ? { trash: "only" as const } : {};
      const send = (match: object) => resource.remove(String(id), { ...trash, ...match });
      // The rows of a list may have entities in the place of references.
      const names = Object.keys(before)
        .filter((each) => each !== "id" && typeof before[each] !== "object");
      const bound = { resource, before, names, send };
      await attempt(`remove the ${singular}`, () => sendBound(bound), { models });
      return { data: { ...previousData, id } as R };
    },
    updateMany: async (name, { ids, data }) => {
      const { resource, operations, plural } = routesOf(name);
      const fields = (operations.updateAll?.body ?? []).filter((field) => field.name in data);
      const cleared = Object.fromEntries(fields.map((field) => [field.name, null]));
      const body = { ...cleared, ...newBody(data, fields) };
      await attempt(`change the ${plural}`, () => resource.updateAll(body, chosen(ids)), {
        form: fields,
      });
      return { data: ids };
    },
    deleteMany: async (name, { ids }) => {
      const { resource, plural } = routesOf(name);
      await attempt(`remove the ${plural}`, () => resource.removeAll(chosen(ids)), { models });
      return { data: ids };
    },
  };
}

/** The whole entity is sent if the form belongs to `replace()`. */
export async function sendChanges(
  { resource, operations: { update, replace } }: Pick<Routes, "resource" | "operations">,
  { before, changes }: { readonly before: Entity; readonly changes: object },
): Promise<Entity> {
  if (replace === undefined || update !== replace) {
    const patch = mergePatch(changes as Entity, { fields: update?.body ?? [], before });
    const send = (match: object) => resource.update(before._id, patch, match);
    return await sendBound({ resource, before, names: Object.keys(patch), send });
  }
  const body = wholeBody({ ...before, ...changes }, { fields: replace.body ?? [], before });
  const send = (match: object) =>
    resource.replace(String(before[replace.by ?? "_id"]), body, match);
  return await sendBound({ resource, before, names: Object.keys(body), send });
}

interface Versions {
  readonly data: object;
  readonly previousData: object;
  readonly start: object | undefined;
}

/**
 * Another client may have set a value since the reader began to type. The version of the entity does not tell, because
 * the page has read the entity again in the meantime.
 */
function hasLost(fields: readonly Field[], { data, previousData, start }: Versions): boolean {
  return start !== undefined && fields.some(({ name }) => {
    const [mine, now, before] = [data, previousData, start].map((each) => Reflect.get(each, name));
    return !isSame(now, before) && !isSame(mine, now);
  });
}

async function attempt<T>(
  what: string,
  send: () => Promise<T>,
  facts?: FailureFacts,
): Promise<T> {
  try {
    return await send();
  } catch (error) {
    throw failure(what, error, facts);
  }
}

async function readList<R extends RaRecord>(
  { resource, ...named }: Routes,
  params: GetListParams,
): Promise<GetListResult<R>> {
  const { all } = named.operations;
  if (all === undefined) return { data: [], total: 0 };
  const { items, total, next } = await resource.all(listOptions(params, named));
  const found = withNamePart(items, { named, part: params.filter?.[NAME_PART] });
  const { page, perPage } = params.pagination ?? { page: 1, perPage: 25 };
  if (total !== undefined) return { data: toRecords(found), total };
  if (all.parameters.some(({ name }) => name === "limit")) {
    const data = toRecords<R>(found);
    return next === undefined
      ? { data, total: (page - 1) * perPage + items.length }
      : { data, pageInfo: { hasPreviousPage: page > 1, hasNextPage: true } };
  }
  // The answer of a list without pages has all entities.
  const shown = found.slice((page - 1) * perPage, page * perPage);
  return { data: toRecords(shown), total: found.length };
}

/** The page selects entities by a part of their names if the list of the API cannot. */
function withNamePart(
  items: readonly Entity[],
  { named, part }: { readonly named: Named; readonly part: unknown },
): readonly Entity[] {
  if (typeof part !== "string" || canMatchName(named) || canSearch(named)) return items;
  const wanted = part.toLowerCase();
  return items.filter((item) => nameOf(item, named).toLowerCase().includes(wanted));
}

/** An entity that the reader may not see is left out. */
async function readMany(
  { operations: { all, one }, resource }: Routes,
  ids: readonly unknown[],
): Promise<readonly Entity[]> {
  const texts = [...new Set(ids.map(String))];
  if (canChoose(all)) {
    const limit = all?.parameters.find(({ name }) => name === "limit")?.maximum;
    const size = Math.min(limit ?? 50, 50);
    const starts = texts.keys().filter((at) => at % size === 0).toArray();
    const pages = await Promise.all(starts.map((at) => {
      const { q } = chosen(texts.slice(at, at + size));
      return resource.all(limit === undefined ? { q } : { q, limit: size });
    }));
    return pages.flatMap(({ items }) => items);
  }
  if (one === undefined) return [];
  const found = await Promise.allSettled(texts.map((id) => resource.one(id)));
  return found.flatMap((each) => each.status === "fulfilled" ? [each.value] : []);
}

/** React-admin needs an `id`, so an embedded entity without an identifier gets its place in the list. */
function toRecord<R extends RaRecord>(entity: Entity, index = 0): R {
  return { ...entity, id: entity._id ?? index } as RaRecord as R;
}

function toRecords<R extends RaRecord>(entities: readonly Entity[]): R[] {
  return entities.map((entity, index) => toRecord(entity, index));
}
