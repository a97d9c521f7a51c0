/**
 * {@linkcode migrate} changes stored data before an application starts, and {@linkcode every} repeats a function, each
 * in one process at a time.
 *
 * @example Migrate, then serve
 * ```ts ignore
 * import mongoose from "mongoose";
 * import { every, migrate } from "@mongrove/mongrove/work";
 * import { app } from "./app.ts";
 * import { Ticket } from "./ticket.ts";
 *
 * await mongoose.connect("mongodb://127.0.0.1:27017/desk?replicaSet=rs0");
 * await migrate([{
 *   name: "2026-03 priorities are numbers",
 *   run: ({ each }) => each(Ticket, { priority: "high" }, () => ({ priority: 1 })),
 * }]);
 * every("1h", "late tickets", () => console.log("Remind of late tickets"));
 * app.listen(3000);
 * ```
 *
 * @module
 */

export type { Each, EachResult, StoredModel } from "./each.ts";
export { every } from "./every.ts";
export type { EveryOptions, RepeatedWork, RunContext } from "./every.ts";
export { migrate } from "./migrate.ts";
export type { Migrate, MigrateOptions, Migration, MigrationContext } from "./migrate.ts";
