import type { Connection, Model } from "mongoose";

/** The longest wait of a request for an index build, which takes milliseconds on an empty collection. */
const FIRST_BUILD_MS = 2000;

/** Later index builds of a model, because `model.init()` returns only its first build. */
const running = new Map<Promise<unknown>, Connection>();

const awaited = new WeakSet<Model<unknown>>();

export function noteBuild(connection: Connection, build: Promise<unknown>): void {
  running.set(build, connection);
  const end = () => void running.delete(build);
  build.then(end, end);
}

/**
 * MongoDB refuses a transaction on a collection whose indexes have just changed. A build is awaited only once, because
 * it may wait for an open transaction.
 */
export async function awaitBuilds(connection: Connection): Promise<boolean> {
  const client = connection.getClient();
  const builds = [...running].filter(([, each]) => each.getClient() === client)
    .map(([build]) => build);
  const models = Object.values(connection.models).filter((each) => !awaited.has(each));
  if (builds.length + models.length === 0) return false;
  await waitFor(Promise.allSettled([...builds, ...models.map((each) => each.init())]));
  for (const each of builds) running.delete(each);
  for (const each of models) awaited.add(each);
  return true;
}

/** A failed build throws nothing, because the caller checks whether the indexes exist. */
export async function waitFor(build: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => timer = setTimeout(resolve, FIRST_BUILD_MS));
  await Promise.race([build.then(() => {}, () => {}), late]);
  clearTimeout(timer);
}
