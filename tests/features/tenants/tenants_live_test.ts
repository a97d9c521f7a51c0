import { assertEquals, assertNotMatch } from "@std/assert";
import { test } from "../../harness/testing.ts";
import { openLive } from "../live/live.ts";
import { until } from "../../support/until.ts";
import { ACME, BELL, of, serveCompanies } from "./companies.ts";

test("a live list shows only the entities of its tenant", async () => {
  await using app = await serveCompanies();
  await using acme = await openLive(`${app.url}/projects?sort=name`, of(ACME).headers);
  await using bell = await openLive(`${app.url}/projects?sort=name`, of(BELL).headers);
  await Promise.all([acme.ready(), bell.ready()]);
  const { _id } = await app.created("/projects", { name: "a" }, of(ACME));
  await app.created("/projects", { name: "b" }, of(BELL));
  await until(() => acme.items.length + bell.items.length === 2);
  assertEquals([acme.items.map(({ name }) => name), bell.items.map(({ name }) => name)], [
    ["a"],
    ["b"],
  ]);
  await app.delete(`/projects/${_id}`, of(ACME));
  await until(() => acme.items.length === 0);
  assertNotMatch(acme.wire, new RegExp(BELL));
  assertNotMatch(bell.wire, new RegExp(`${ACME}|${_id}`));
});

test("a live list ends when its request gets another tenant", async () => {
  const tenants = new Map([["ann", ACME], ["bob", BELL]]);
  await using app = await serveCompanies({
    tenant: (req) => tenants.get(String(req.headers["x-user"])),
    limits: { live: { renewMS: 200 } },
  });
  await using ann = await openLive(`${app.url}/projects`, { "x-user": "ann" });
  await using bob = await openLive(`${app.url}/projects`, { "x-user": "bob" });
  await Promise.all([ann.ready(), bob.ready()]);
  tenants.set("ann", BELL);
  await ann.ended();
  await app.created("/projects", { name: "b" }, { headers: { "x-user": "bob" } });
  await until(() => bob.items.length === 1);
  assertEquals([ann.items, bob.hasEnded], [[], false]);
});
