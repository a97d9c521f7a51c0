/**
 * Functions for tests of applications. {@linkcode startMongo} starts a MongoDB. {@linkcode serve} serves an application
 * on a free port.
 *
 * Only `startMongo()` loads the package mongodb-memory-server, which your application must install.
 *
 * @example Test an application with `deno test`
 * ```ts ignore
 * import { assertEquals } from "@std/assert";
 * import mongoose from "mongoose";
 * import { serve, startMongo } from "@mongrove/mongrove/testing";
 * import { buildApp } from "./app.ts";
 *
 * Deno.test("a new database has no movies", async () => {
 *   await using mongo = await startMongo();
 *   await mongoose.connect(mongo.uri);
 *   await using app = await serve(buildApp());
 *   assertEquals(await (await fetch(`${app.url}/movies`)).json(), []);
 *   await mongoose.disconnect();
 * });
 * ```
 *
 * @module
 */

export { serve } from "./serve.ts";
export type { Served } from "./serve.ts";
export { startMongo } from "./start_mongo.ts";
export type { StartMongoOptions } from "./start_mongo.ts";
export type { TestMongo } from "./test_mongo.ts";
