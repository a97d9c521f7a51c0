import mongoose, { type Connection } from "mongoose";
import { type FrameworkRequest, RestError } from "@mongrove/mongrove";

const NAME = /^[a-z][a-z0-9]{0,19}$/;

const connections = new Map<string, Connection>();

/**
 * Gives the connection of the tenant that a request names: a database of its own, over the one pool of this process.
 * A real application takes the tenant from a session, and checks that it exists.
 */
export function connectionOf(req: FrameworkRequest): Connection {
  const tenant = req.get("x-tenant") ?? "";
  if (!NAME.test(tenant)) throw new RestError(400, "Name a tenant in X-Tenant");
  const known = connections.get(tenant);
  if (known) return known;
  const prefix = mongoose.connection.name;
  const connection = mongoose.connection.useDb(`${prefix}_${tenant}`, { useCache: true });
  connections.set(tenant, connection);
  return connection;
}
