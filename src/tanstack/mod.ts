/**
 * Collections of TanStack DB with the entities of a route. {@linkcode collectionOptions} makes the options of
 * `createCollection()` from a resource of the client.
 *
 * @example Show and change todos
 * ```ts ignore
 * import { createCollection } from "@tanstack/db";
 * import { connect } from "@mongrove/mongrove/client";
 * import { collectionOptions, temporaryId } from "@mongrove/mongrove/tanstack";
 *
 * const api = connect("https://example.org/api");
 * const resource = api.resource<Todo>("/todos", { idempotency: true });
 * const todos = createCollection(collectionOptions(resource, { live: true }));
 *
 * const { isPersisted } = todos.insert({ _id: temporaryId(), text: "Buy milk", done: false });
 * await isPersisted.promise.catch((error) => showErrors(error.errors));
 * ```
 *
 * @module
 */

export { collectionOptions } from "./collection_options.ts";
export type { CollectionOptions, CollectionUtils, ListQuery } from "./collection_options.ts";
export type { ResourceConfig, Row } from "./collection_options.ts";
export { temporaryId } from "./_writes.ts";
