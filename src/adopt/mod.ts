/**
 * Existing Mongoose models: {@linkcode adopt} gives a model routes, and does not change it.
 *
 * @example Serve a model of an application
 * ```ts
 * import mongoose from "mongoose";
 * import { all, one, update } from "@mongrove/mongrove";
 * import { adopt } from "@mongrove/mongrove/adopt";
 *
 * const userSchema = new mongoose.Schema({
 *   name: { type: String, required: true },
 *   email: { type: String, required: true },
 *   password: { type: String, required: true, select: false },
 * });
 * const UserModel = mongoose.model("User", userSchema);
 *
 * const User = adopt(UserModel, {
 *   shown: ["name", "email"],
 *   writable: ["name"],
 *   rest: { route: "/users", methods: [all({ page: { max: 50 } }), one(), update()] },
 * });
 * ```
 *
 * @module
 */

export { adopt } from "./adopt.ts";
export type { Adopted, AdoptOptions } from "./options.ts";
