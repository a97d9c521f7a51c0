const URI = /^(mongodb(?:\+srv)?:\/\/)([^/?]+)(?:\/([^?]*))?(?:\?(.*))?$/;

/** Changes only the database. The message of the `TypeError` contains no part of `uri`, which may hold a password. */
export function withDatabase(uri: string, name: string): string {
  const parts = URI.exec(uri);
  if (!parts) {
    throw new TypeError(
      `Cannot name the database "${name}": MONGODB_URI is no connection string`,
    );
  }
  const [, scheme = "", hosts = "", path = "", query = ""] = parts;
  const options = new URLSearchParams(query);
  const added = needsAuthSource(scheme, hosts, options) ? [`authSource=${path || "admin"}`] : [];
  const whole = [...query ? [query] : [], ...added].join("&");
  return `${scheme}${hosts}/${name}${whole && `?${whole}`}`;
}

/**
 * A password is looked up in the database of the path, so it has to be named before the path is changed. An SRV host
 * names it in its record.
 */
function needsAuthSource(
  scheme: string,
  hosts: string,
  options: URLSearchParams,
): boolean {
  const mechanism = options.get("authMechanism") ?? "SCRAM";
  return scheme === "mongodb://" && hosts.includes("@") &&
    !options.has("authSource") && mechanism.startsWith("SCRAM");
}
