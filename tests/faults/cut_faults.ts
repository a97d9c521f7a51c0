import { assertEquals, assertRejects } from "@std/assert";
import { once } from "node:events";
import { get } from "node:http";
import mongoose from "mongoose";
import type { Connection } from "mongoose";
import { all, FrameworkModel, getModel, prop, rest } from "../../mod.ts";
import type { FrameworkRequest } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { openGet, readSome, readToEnd } from "../support/sockets.ts";
import { mount } from "../support/support.ts";
import { openTunnel } from "../support/tunnel.ts";

/** Reads a list to its end, and calls back when it has begun; rejects if it is not complete. */
type ReadAll = (url: string, onBegun: () => void) => Promise<unknown>;

/** Reads with curl, which tells by its status whether an answer is complete. */
function curl(...args: string[]): ReadAll {
  return async (url, onBegun) => {
    const options: Deno.CommandOptions = { args: ["-sN", ...args, url], stdout: "piped" };
    await using child = new Deno.Command("curl", options).spawn();
    for await (const _piece of child.stdout) onBegun();
    if (!(await child.status).success) throw new Error("curl fails");
  };
}

const CLIENTS: Readonly<Record<string, ReadAll>> = {
  async fetch(url, onBegun) {
    const answer = await fetch(url);
    onBegun();
    await answer.text();
  },
  async "node:http"(url, onBegun) {
    const asked = get(url);
    const [answer] = await once(asked, "response");
    // Deno tells the request, too
    asked.on("error", () => {});
    onBegun();
    for await (const _piece of answer);
  },
  curl: curl(),
  "curl over HTTP/1.0": curl("--http1.0"),
  async "a socket of HTTP/1.0"(url, onBegun) {
    using socket = await openGet(url, { version: "1.0" });
    await readSome(socket);
    onBegun();
    await readToEnd(socket);
  },
};

/** Serves a list that no connection holds at once, from a database that a test can cut off. */
async function openLong() {
  const opened: Connection[] = [];
  const preFetch = (req: FrameworkRequest) => {
    req.framework.options = { batchSize: 20 };
    return true;
  };
  const getConnection = () => opened.at(-1) as Connection;
  @rest({ route: "/rows", methods: [all({ preFetch })], getConnection })
  class Row extends FrameworkModel {
    @prop()
    text?: string;
  }
  const app = await mount([Row], { onError: () => {}, limits: { timeMS: 1000 } });
  const rows = Array.from({ length: 1000 }, () => ({ text: "x".repeat(20_000) }));
  await getModel(Row).collection.insertMany(rows as never[]);
  return {
    url: `${app.url}/rows`,
    async connect() {
      const tunnel = openTunnel(Deno.env.get("MONGODB_URI") ?? "");
      const connection = mongoose.createConnection(tunnel.uri, { dbName: app.database.name });
      connection.on("error", () => {});
      opened.push(await connection.asPromise());
      return tunnel;
    },
    async [Symbol.asyncDispose]() {
      for (const each of opened) each.close(true).catch(() => {});
      await app[Symbol.asyncDispose]();
    },
  };
}

test("no client takes a list for complete whose database dies in the middle", async (t) => {
  await using app = await openLong();
  for (const [name, read] of Object.entries(CLIENTS)) {
    await t.step(name, async () => {
      const tunnel = await app.connect();
      await read(app.url, () => {});
      let isCut = false;
      const cut = () => {
        if (!isCut) tunnel[Symbol.dispose]();
        isCut = true;
      };
      await assertRejects(() => read(app.url, cut));
      assertEquals(isCut, true);
    });
  }
});
