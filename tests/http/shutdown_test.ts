import { assertEquals, assertMatch } from "@std/assert";
import { openDatabase } from "../harness/database.ts";
import { keepBusy } from "../support/busy_clients.ts";
import { client, type EntityBody } from "../support/client.ts";
import { request } from "../harness/request.ts";
import { freePort } from "../harness/free_port.ts";
import { longTest } from "../harness/testing.ts";
import { openTunnel } from "../support/tunnel.ts";
import { until } from "../support/until.ts";

const ROOT = new URL("../../", import.meta.url);
const PERMISSIONS = ["--allow-env", "--allow-net", "--allow-sys", "--allow-run", "--allow-read"];

/** An example, and what it creates. */
interface Example {
  readonly name: string;
  readonly path: string;
  readonly headers?: string;
  readonly body: object;
}

const EXAMPLES: readonly Example[] = [
  {
    name: "todo",
    path: "/todos",
    headers: "Authorization: demo-key\r\n",
    body: { text: "a" },
  },
  {
    name: "movies",
    path: "/movies",
    headers: "Authorization: demo-key\r\n",
    body: { name: "A", description: "a" },
  },
  { name: "library", path: "/shelves", body: { name: "A" } },
  { name: "cluster", path: "/notes", headers: "X-Tenant: ada\r\n", body: { text: "a" } },
];

function run(
  name: string,
  env: Record<string, string>,
  stderr: "inherit" | "piped" = "inherit",
): Deno.ChildProcess {
  const args = ["run", "--quiet", "--no-prompt", ...PERMISSIONS, `examples/${name}/main.ts`];
  const options = { args, env, cwd: ROOT, stdout: "null", stderr } as const;
  return new Deno.Command(Deno.execPath(), options).spawn();
}

/** How long a connection may be silent: a worker of Deno's node:cluster may never read its first connection. */
const SILENT_MS = 5000;

/** Waits until something answers. */
async function untilUp(url: string): Promise<void> {
  for (let left = 600; left > 0; left--) {
    const asked = request(url, { headers: { connection: "close" }, within: SILENT_MS });
    if (await asked.then(() => true, () => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`Cannot reach ${url}`);
}

/** Waits until nobody listens any more. */
async function untilRefused(port: number): Promise<void> {
  for (let left = 600; left > 0; left--) {
    try {
      (await Deno.connect({ hostname: "127.0.0.1", port })).close();
    } catch {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`Port ${port} is still open`);
}

/** Begins a request, half of its body sent; gives what ends it, and reads the answer. */
async function beginCreate(
  port: number,
  { path, headers = "", body }: Example,
): Promise<() => Promise<string>> {
  const text = JSON.stringify(body);
  const type = `Content-Type: application/json\r\nContent-Length: ${text.length}\r\n`;
  const head = `POST ${path} HTTP/1.1\r\nHost: a\r\n${headers}${type}Expect: 100-continue\r\n\r\n`;
  for (;;) {
    const socket = await Deno.connect({ hostname: "127.0.0.1", port });
    const write = (part: string) => socket.write(new TextEncoder().encode(part));
    await write(head);
    const timer = setTimeout(() => socket.close(), SILENT_MS);
    // The application has begun with the request when it asks for the body.
    const asked = await socket.read(new Uint8Array(1000)).catch(() => null);
    clearTimeout(timer);
    if (asked === null) continue;
    return async () => {
      await write(text);
      return await new Response(socket.readable).text();
    };
  }
}

/** Reads the log of a process until a text has come. */
async function readUntil(child: Deno.ChildProcess, text: string): Promise<string> {
  let log = "";
  for await (const chunk of child.stderr.pipeThrough(new TextDecoderStream())) {
    log += chunk;
    if (log.includes(text)) break;
  }
  return log;
}

longTest(
  "examples/todo waits for a database that is away when it starts, and the log says so",
  async () => {
    await using database = await openDatabase();
    const [port, hidden] = [freePort(), freePort()];
    const uri = `mongodb://127.0.0.1:${hidden}/${database.name}?serverSelectionTimeoutMS=300`;
    const child = run("todo", { MONGODB_URI: uri, PORT: String(port), TODO_KEY: "key" }, "piped");
    assertMatch(await readUntil(child, "ServerSelectionError"), /ECONNREFUSED/);
    using _tunnel = openTunnel(database.uri, hidden);
    const url = `http://127.0.0.1:${port}/todos`;
    await untilUp(url);
    assertEquals((await client(url, { authorization: "key" }).post("", { text: "a" })).status, 201);
    child.kill("SIGTERM");
    assertEquals((await child.status).code, 0);
  },
);

for (const example of EXAMPLES) {
  longTest(
    `examples/${example.name} answers what is under way on SIGTERM, and ends with 0`,
    async () => {
      await using database = await openDatabase();
      const port = freePort();
      const [DEMO_DATABASE, PORT] = [database.name, String(port)];
      const child = run(example.name, {
        ...{ MONGODB_URI: database.uri, DEMO_DATABASE, PORT, WORKERS: "2" },
        ...{ SECRET_KEY: "demo-key", TODO_KEY: "demo-key" },
      });
      await untilUp(`http://127.0.0.1:${port}/`);
      const finish = await beginCreate(port, example);
      child.kill("SIGTERM");
      await untilRefused(port);
      assertMatch(await finish(), /HTTP\/1\.1 201 /);
      assertEquals((await child.status).code, 0);
    },
  );
}

longTest("a process that stops sends 128 busy clients away, and resets none", async () => {
  await using database = await openDatabase();
  const port = freePort();
  const url = `http://127.0.0.1:${port}/todos`;
  const child = run("todo", { MONGODB_URI: database.uri, PORT: String(port) });
  await untilUp(url);
  const { body } = await client(url).post<EntityBody>("", { text: "a" });
  const busy = keepBusy(`${url}/${body._id}`, 128);
  await until(() => busy.fewest > 5, { seconds: 60 });
  child.kill("SIGTERM");
  assertEquals(await busy.ends, Array(128).fill("sent away"));
  assertEquals((await child.status).code, 0);
});
