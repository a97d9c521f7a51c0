/**
 * API keys for programs: {@linkcode keys} is a plugin with routes by which users make, rotate and end keys.
 *
 * @example Accept keys in an application with its own login
 * ```ts ignore
 * import { Framework } from "@mongrove/mongrove";
 * import { apiKeyOf, keys } from "@mongrove/mongrove/keys";
 *
 * app.use(Framework.initialize({
 *   strict: true,
 *   guard: (req) => sessionOf(req) !== undefined || apiKeyOf(req) !== undefined,
 *   actor: (req) => apiKeyOf(req)?.owner ?? sessionOf(req)?.user,
 *   plugins: [keys({ owner: (id) => findActiveUser(id) })],
 * }));
 * ```
 *
 * @module
 */

export { apiKeyOf, keys } from "./keys.ts";
export type { ApiKey, KeysOptions } from "./options.ts";
