import { assert, assertEquals, assertRejects } from "@std/assert";
import { stub } from "@std/testing/mock";
import { all, FrameworkModel, prop, rest } from "../../mod.ts";
import { serve } from "../harness/serve.ts";
import { test } from "../harness/testing.ts";
import { request } from "../harness/request.ts";
import { mount } from "../support/support.ts";
import { until } from "../support/until.ts";
import { isLong, report } from "../harness/report.ts";
import { findNginx } from "./support/find_nginx.ts";

let nginx: Promise<string> | undefined;

/** A list that fails after its answer has begun. */
async function* fetchRows() {
  yield* Array.from({ length: 300 }, () => ({ text: "x".repeat(1000) }));
  await new Promise((resolve) => setTimeout(resolve, 50));
  throw new Error("late");
}

/** The database hangs. */
const never = () => new Promise<never>(() => {});

@rest({ route: "/rows", methods: [all({ fetch: fetchRows })] })
@rest({ route: "/hanging", methods: [all({ fetch: never })] })
class Row extends FrameworkModel {
  @prop()
  text?: string;
}

/** Starts nginx before an application, as an ordinary user. */
async function openNginx(to: string) {
  const dir = await Deno.makeTempDir({ prefix: "mongrove-nginx-" });
  await using free = await serve(() => {});
  const port = Number(new URL(free.url).port);
  await free.stop();
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${dir}/${name};`).join(" ");
  const kinds = {
    "1.0": "proxy_http_version 1.0;",
    "1.1": "proxy_http_version 1.1;",
    impatient: "proxy_http_version 1.1; proxy_read_timeout 5s;",
  };
  const places = Object.entries(kinds).map(([name, settings]) =>
    `location /${name}/ { proxy_pass ${to}/; ${settings} proxy_set_header Connection ""; }`
  ).join(" ");
  const config =
    `daemon off; master_process off; pid ${dir}/pid; error_log ${dir}/error.log; events {}
    http { access_log off; ${paths} server { listen 127.0.0.1:${port}; ${places} } }`;
  await Deno.writeTextFile(`${dir}/nginx.conf`, config);
  const args = ["-p", dir, "-c", `${dir}/nginx.conf`, "-e", `${dir}/error.log`];
  const child = new Deno.Command(await (nginx ??= findNginx()), {
    args,
    stdout: "null",
    stderr: "null",
  }).spawn();
  const url = `http://127.0.0.1:${port}`;
  await until(() => request(`${url}/up`).then(() => true, () => false));
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.status;
      await Deno.remove(dir, { recursive: true });
    },
  };
}

/** What curl says of an answer: 0 for one that is complete. */
async function curl(url: string, ...more: string[]): Promise<number> {
  const args = ["-s", "-o", "/dev/null", ...more, url];
  return (await new Deno.Command("curl", { args }).output()).code;
}

test("a list that is cut never looks complete through nginx", async () => {
  await using app = await mount([Row]);
  using _error = stub(console, "error");
  await using proxy = await openNginx(app.url);
  await assertRejects(async () => await (await fetch(`${proxy.url}/1.1/rows`)).text());
  assert(await curl(`${proxy.url}/1.1/rows`) !== 0);
  const older = await curl(`${proxy.url}/1.0/rows`);
  await report(
    `A cut list through nginx: curl sees it, by HTTP/1.0 to the application ${
      older ? "too" : "not"
    }`,
  );
  assertEquals(await curl(`${proxy.url}/1.1/none`), 0);
});

(isLong ? test : Deno.test.ignore)("proxy_read_timeout has to be more than maxTimeMS", async () => {
  await using app = await mount([Row], { onError: () => {} });
  await using proxy = await openNginx(app.url);
  for (const [name, expected] of [["impatient", 504], ["1.1", 503]] as const) {
    const begun = performance.now();
    const { status } = await request(`${proxy.url}/${name}/hanging`, { within: 30_000 });
    assertEquals(status, expected);
    const took = (performance.now() - begun) / 1000;
    await report(`The database hangs, nginx ${name}: ${status} after ${took.toFixed(1)} s`);
  }
});
