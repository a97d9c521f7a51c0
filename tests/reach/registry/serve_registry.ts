import { denoPack } from "../../harness/tasks/pack/deno_pack.ts";
import { readTar } from "../../harness/tasks/pack/read_tar.ts";

/** A JSR registry on the loopback interface. */
export interface Registry extends AsyncDisposable {
  /** The value for `JSR_URL`, with a trailing slash. */
  readonly url: string;
  /** The files of the version that was published last, by their path. */
  readonly published: ReadonlyMap<string, Uint8Array>;
}

interface Version {
  readonly scope: string;
  readonly name: string;
  readonly version: string;
}

const PUBLISH = /^\/api\/scopes\/([^/]+)\/packages\/([^/]+)\/versions\/([^/]+)$/;
const PACKAGE = /^\/api\/scopes\/([^/]+)\/packages\/([^/]+)$/;

const TYPES: Record<string, string> = {
  json: "application/json",
  js: "text/javascript",
  ts: "text/typescript",
  tgz: "application/octet-stream",
};

/**
 * Serves a registry that speaks what `deno publish`, `jsr:` imports and the `@jsr` scope of npm need. It keeps one version
 * of each package, in memory; publishing replaces it.
 *
 * @returns The registry.
 */
export function serveRegistry(): Registry {
  const paths = new Map<string, Uint8Array>();
  const published = new Map<string, Uint8Array>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, handle);
  const url = `http://127.0.0.1:${server.addr.port}/`;

  async function handle(request: Request): Promise<Response> {
    const path = decodeURIComponent(new URL(request.url).pathname);
    if (request.method === "POST") {
      const [, scope = "", name = "", version = ""] = PUBLISH.exec(path) ?? [];
      const archive = new Uint8Array(await request.arrayBuffer());
      published.clear();
      for (const [file, bytes] of await readTar(archive)) published.set(file, bytes);
      await store(paths, { scope, name, version }, { files: published, url });
      return Response.json({ id: "1", status: "success", error: null });
    }
    return answerApi(path) ?? answerFile(path, paths.get(path));
  }

  return { url, published, [Symbol.asyncDispose]: () => server.shutdown() };
}

/** Answers what `deno publish` asks before and after. */
function answerApi(path: string): Response | undefined {
  const [, scope, name] = PACKAGE.exec(path) ?? [];
  if (name !== undefined) return Response.json({ scope, name, latestVersion: null });
  if (path.startsWith("/api/publish_status/")) {
    return Response.json({ id: "1", status: "success", error: null });
  }
}

function answerFile(path: string, bytes: Uint8Array | undefined): Response {
  if (bytes === undefined) {
    return Response.json({ code: "notFound", message: "Not found" }, { status: 404 });
  }
  const type = TYPES[/\.(\w+)$/.exec(path)?.[1] ?? "json"] ?? "text/plain";
  return new Response(bytes as BodyInit, { headers: { "content-type": type } });
}

/** Lays a version out as JSR does, also for npm. */
async function store(
  paths: Map<string, Uint8Array>,
  { scope, name, version }: Version,
  { files, url }: { files: ReadonlyMap<string, Uint8Array>; url: string },
): Promise<void> {
  const root = `/@${scope}/${name}`;
  const config = JSON.parse(new TextDecoder().decode(files.get("deno.json")));
  const manifest: Record<string, unknown> = {};
  for (const [path, bytes] of files) {
    paths.set(`${root}/${version}/${path}`, bytes);
    manifest[`/${path}`] = { size: bytes.length, checksum: `sha256-${await digest("256", bytes)}` };
  }
  paths.set(`${root}/${version}_meta.json`, toBytes({ manifest, exports: config.exports }));
  const versions = { [version]: {} };
  paths.set(`${root}/meta.json`, toBytes({ scope, name, latest: version, versions }));
  const npmName = `@jsr/${scope}__${name}`;
  const decoder = new TextDecoder();
  const source = new Map([...files].map(([path, bytes]) => [path, decoder.decode(bytes)]));
  const npm = await denoPack(npmName, source);
  const archive = `/npm/~/${npmName}/${version}.tgz`;
  paths.set(archive, npm.tarball);
  const dist = {
    tarball: new URL(archive, url).href,
    integrity: `sha512-${base64(await digest("512", npm.tarball))}`,
  };
  const npmVersions = { [version]: { ...npm.manifest, dist } };
  const tags = { latest: version };
  paths.set(
    `/npm/${npmName}`,
    toBytes({ name: npmName, "dist-tags": tags, versions: npmVersions }),
  );
}

function toBytes(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

async function digest(bits: "256" | "512", bytes: Uint8Array): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest(`SHA-${bits}`, bytes as BufferSource)).toHex();
}

function base64(hex: string): string {
  return Uint8Array.fromHex(hex).toBase64();
}
