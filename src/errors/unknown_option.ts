const RENAMED: Readonly<Record<string, string>> = {
  concurrency: "ifMatch",
  least: "minCount",
  by: "caller",
  within: "timeoutMS",
  parameters: "strict",
  bodies: "strict",
  maxTimeMS: "limits.timeMS",
  sendTimeoutMS: "limits.sendMS",
  maxCascade: "limits.cascade",
  queryLimits: "limits.query",
  bodyLimits: "limits.body",
  live: "limits.live",
  query: "limits.query",
  body: "limits.body",
  key: "required",
  retry: "attempts",
};

const REMOVED: Readonly<Record<string, string>> = {
  heartbeatMS: "live lists send a heartbeat every 15 seconds",
  leaseMS: "leases have a fixed duration",
  sendBufferBytes: "the system sets the buffers of connections",
};

export function unknownOption(given: object, allowed: object): string | undefined {
  const names = Object.keys(allowed);
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  return unknown === undefined ? undefined : `"${unknown}"${meantBy(unknown, names)}`;
}

export function meantBy(unknown: string, names: readonly string[]): string {
  const removed = REMOVED[unknown];
  if (removed !== undefined) return `, which was removed: ${removed}`;
  const renamed = RENAMED[unknown];
  if (renamed !== undefined && names.includes(renamed.split(".", 1)[0] ?? "")) {
    return `, which is now "${renamed}"`;
  }
  const meant = names.find((name) => name.toLowerCase().startsWith(unknown.toLowerCase()));
  return meant === undefined ? "" : ` (did you mean "${meant}"?)`;
}
