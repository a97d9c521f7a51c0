import { assertEquals, assertNotMatch } from "@std/assert";
import mongoose from "mongoose";
import { getModel } from "../../mod.ts";
import { Account, openShop, SECRET } from "../fixtures/shop.ts";
import { test } from "../harness/testing.ts";
import { asQuery, type EntityBody, type ErrorBody } from "../support/support.ts";

// Published weaknesses of software like this one, each as an attack on an application of ours: identifiers and bodies.

test("CVE-2026-29793: no identifier is an operator", async () => {
  await using shop = await openShop();
  const before = await shop.stored();
  for (const id of ['{"$ne":null}', '{"$regex":""}', "[$ne]=", "[object Object]", '{"$oid":1}']) {
    for (const method of ["GET", "PATCH", "DELETE"]) {
      const path = `/accounts/${encodeURIComponent(id)}`;
      const { status } = await shop.send(method, path, method === "PATCH" ? { body: {} } : {});
      assertEquals(status, 404, `${method} ${path}`);
    }
  }
  assertEquals((await shop.get(`/accounts/${shop.own}?_id[$ne]=1`)).status, 200);
  assertEquals((await shop.delete("/accounts?_id[$ne]=1")).status, 400);
  assertEquals(await shop.stored(), before);
});

test("CVE-2023-35167: who knows an identifier sees and changes no more than the scope allows", async () => {
  await using shop = await openShop();
  const before = await shop.stored();
  for (
    const path of [`/accounts/${shop.other}`, `/accounts/${shop.other}${asQuery({ tenant: "b" })}`]
  ) {
    for (const method of ["GET", "PATCH", "DELETE"]) {
      const body = method === "PATCH" ? { body: { name: "mine", tenant: "a" } } : {};
      const { status, text } = await shop.send(method, path, body);
      assertEquals(status, 404, `${method} ${path}`);
      assertNotMatch(text, /other/);
    }
  }
  assertEquals((await shop.delete(`/accounts${asQuery({ tenant: "b" })}`)).status, 204);
  assertEquals(await shop.stored(), before);
});

test("CVE-2026-25574: nothing is reached through a parent that it does not belong to", async () => {
  await using shop = await openShop();
  const before = await shop.stored();
  for (const [part, id] of Object.entries(shop.foreign)) {
    for (const parent of [shop.own, shop.other]) {
      for (const method of ["GET", "PATCH", "DELETE"]) {
        const path = `/accounts/${parent}/${part}/${id}`;
        const body = method === "PATCH" ? { body: { label: "mine", text: "mine" } } : {};
        assertEquals((await shop.send(method, path, body)).status, 404, `${method} ${path}`);
      }
    }
    assertEquals((await shop.post(`/accounts/${shop.other}/${part}`, {})).status, 404);
    assertEquals((await shop.delete(`/accounts/${shop.other}/${part}`)).status, 404);
  }
  assertEquals(await shop.stored(), before);
});

test("GHSA-vgjh-hmwf-c588: no operator stands where a body takes text", async () => {
  await using shop = await openShop();
  const before = await shop.stored();
  for (const value of [{ $ne: null }, { $regex: "." }, { $gt: "" }, [{ $ne: 1 }]]) {
    for (const [method, path] of [["POST", ""], ["PATCH", `/${shop.own}`]] as const) {
      const body = { name: value, password: value };
      const reply = await shop.send<ErrorBody>(method, `/accounts${path}`, { body });
      assertEquals([reply.status, reply.body.code], [400, "BAD_DATA"], JSON.stringify(value));
    }
  }
  assertEquals(await shop.stored(), before);
});

/** The names of what every object has. */
function inherited(): string {
  return [Object, Array, Function].map(({ prototype }) =>
    Reflect.ownKeys(prototype).map(String).join()
  ).join("; ");
}

test("CVE-2022-2564, CVE-2023-3696, CVE-2026-73562: no body changes a prototype", async () => {
  await using shop = await openShop();
  const before = inherited();
  const headers = { "content-type": "application/json" };
  const names = ["__proto__", "__proto__.x", "constructor.prototype.x", "free.__proto__.x"];
  const bodies = names.flatMap((name) => [
    `{"${name}":"polluted"}`,
    `{"${name}":{"x":"polluted"}}`,
    `{"$set":{"${name}":"polluted"}}`,
    `{"$rename":{"name":"${name}"}}`,
    `{"free":{"${name}":{"x":"polluted"}},"key":{"${name}":"polluted"}}`,
  ]);
  for (const raw of bodies) {
    for (const [method, path] of [["POST", ""], ["PATCH", `/${shop.own}`]] as const) {
      const { status } = await shop.send(method, `/accounts${path}`, { raw, headers });
      assertEquals(status < 500, true, raw);
      assertEquals((await shop.get("/accounts")).status, 200, raw);
    }
  }
  assertEquals([inherited(), ({} as { x?: unknown }).x], [before, undefined]);
  assertNotMatch(await shop.stored(), /"__proto__"|"prototype"/);
});

test("CVE-2023-3696: no stored document changes a prototype, or shows the keys that would", async () => {
  await using shop = await openShop();
  const before = inherited();
  const evil = Object.defineProperty({ a: 1 }, "__proto__", {
    value: { x: "polluted" },
    enumerable: true,
  });
  const _id = new mongoose.Types.ObjectId(shop.own);
  const document = { tenant: "a", name: "own", free: evil, key: evil, constructor: evil };
  await getModel(Account).collection.replaceOne(
    { _id },
    Object.defineProperties(
      document,
      Object.getOwnPropertyDescriptors(evil),
    ),
  );
  const replies = await Promise.all([
    shop.get("/accounts"),
    shop.get(`/accounts/${shop.own}`),
    shop.patch(`/accounts/${shop.own}`, { free: { b: 1 } }),
  ]);
  assertEquals(replies.map(({ status }) => status), [200, 200, 200]);
  for (const { text } of replies) assertNotMatch(text, /polluted/);
  assertEquals([inherited(), ({} as { x?: unknown }).x], [before, undefined]);
});

test("CVE-2026-34574: null clears nothing that a body may not set", async () => {
  await using shop = await openShop();
  const guarded = {
    expires: null,
    role: null,
    tenant: null,
    createdAt: null,
    __v: null,
    _id: null,
  };
  const changed = await shop.updated(`/accounts/${shop.own}`, { name: "n", ...guarded });
  const { expires, role, tenant, _id } = changed;
  assertEquals([expires, role, tenant, _id], [new Date(0).toJSON(), "user", "a", shop.own]);
  await shop.updated(`/accounts/${shop.own}`, { key: null, locks: null });
  const stored = await getModel(Account).findById(shop.own).lean() as { key?: { code?: string } };
  assertEquals(stored.key?.code, SECRET);
});

test("GHSA-jc39-686j-wp6q: no body sets what the server sets", async () => {
  await using shop = await openShop();
  const claims = {
    _id: "5".repeat(24),
    __v: 9917,
    role: "admin",
    tenant: "b",
    expires: "3199-01-01",
    createdAt: "2001-01-01",
    updatedAt: "2001-01-01",
    isAdmin: true,
  };
  const spellings = [claims, { $set: claims }, {
    "role": "admin",
    "key.code": "x",
    "tenant.0": "b",
  }];
  for (const body of spellings) {
    const made = await shop.created<EntityBody>("/accounts", { ...body, name: "n" });
    await shop.updated(`/accounts/${made._id}`, { ...body, name: "m" });
    const text = JSON.stringify(await shop.read(`/accounts/${made._id}`));
    assertNotMatch(text, /5{24}|9917|3199|admin|"b"|2001|isAdmin/i);
  }
  assertEquals((await shop.get(`/accounts/${"5".repeat(24)}`)).status, 404);
});
