import { assertEquals } from "@std/assert";
import {
  type Command,
  judgeCommand,
  type ShardKey,
  type Target,
  type Version,
} from "./shard_rules.ts";

function check(
  command: Command,
  { key, version = "6.0", exists }: { key: ShardKey; version?: Version; exists?: boolean },
  target: Target | undefined,
): void {
  const judged = judgeCommand(command, { key, version, ...exists !== undefined && { exists } });
  assertEquals(judged?.target, target, `${JSON.stringify(command)} by ${JSON.stringify(key)}`);
}

const ABC: ShardKey = { a: 1, b: 1, c: 1 };
const HASHED: ShardKey = { _id: "hashed" };

Deno.test("a query with the shard key or a prefix of it is targeted, another is broadcast", () => {
  // The example of core/sharded-cluster-query-router#targeted-operations.
  const find = (filter: object) => ({ find: "x", filter });
  check(find({ a: 1, b: 2, c: 3 }), { key: ABC }, "one");
  check(find({ a: 1 }), { key: ABC }, "several");
  check(find({ a: 1, b: 2 }), { key: ABC }, "several");
  check(find({ b: 2 }), { key: ABC }, "all");
  check(find({}), { key: ABC }, "all");
  check(
    find({ $and: [{ a: { $eq: 1 } }, { b: 2, c: { $eq: 3, $exists: true } }] }),
    { key: ABC },
    "one",
  );
  check(find({ $or: [{ a: 1, b: 2, c: 3 }] }), { key: ABC }, "all");
  check(find({ a: /x/, b: 2, c: 3 }), { key: ABC }, "all");
});

Deno.test("a hashed shard key is targeted by equality and by lists, never by a range", () => {
  check({ find: "x", filter: { _id: 1 } }, { key: HASHED }, "one");
  check({ find: "x", filter: { _id: { $in: [1, 2] } } }, { key: HASHED }, "several");
  check({ find: "x", filter: { _id: { $gt: 1 } } }, { key: HASHED }, "all");
});

Deno.test("a text by another collation than the simple one targets no shard", () => {
  const find = { find: "x", filter: { tenant: "a" } };
  check({ ...find, collation: { locale: "simple" } }, { key: { tenant: 1 } }, "one");
  check({ ...find, collation: { locale: "en" } }, { key: { tenant: 1 } }, "all");
  check(
    { ...find, filter: { tenant: 1 }, collation: { locale: "en" } },
    { key: { tenant: 1 } },
    "one",
  );
});

Deno.test("an aggregation is targeted by its first conditions, and judged by all that it joins", () => {
  const aggregate = (...pipeline: object[]) => ({ aggregate: "x", pipeline });
  const key = { a: 1 } as const;
  check(aggregate({ $match: { a: 1 } }, { $group: { _id: "$b" } }), { key }, "one");
  check(aggregate({ $match: { b: 1 } }, { $match: { a: 1 } }), { key }, "one");
  check(aggregate({ $group: { _id: "$a" } }, { $match: { a: 1 } }), { key }, "all");
  check(aggregate({ $geoNear: { query: { a: 1 } } }), { key }, "one");
  check(aggregate({ $match: { a: 1 } }, { $lookup: { from: "y" } }), { key }, "all");
  const union = (filter: object) => ({ $unionWith: { coll: "x", pipeline: [{ $match: filter }] } });
  check(aggregate({ $match: { a: 1 } }, union({ a: 1 })), { key }, "one");
  check(aggregate({ $match: { a: 1 } }, union({ b: 1 })), { key }, "all");
  check(aggregate({ $changeStream: {} }), { key }, "all");
  check({ aggregate: 1, pipeline: [{ $documents: [] }] }, { key }, undefined);
});

Deno.test("each document of an insert goes to one shard", () => {
  check({ insert: "x", documents: [{ a: 1, b: 1, c: 1 }] }, { key: ABC }, "one");
  check({ insert: "x", documents: [{ a: 1 }, { a: 1, d: 2 }] }, { key: ABC }, "one");
  check({ insert: "x", documents: [{ a: 1 }, { a: 2 }] }, { key: ABC }, "several");
});

Deno.test("an update or a removal of one document needs the shard key or _id before 7.1", () => {
  const update = (q: object) => ({ update: "x", updates: [{ q, u: { $set: { d: 1 } } }] });
  const remove = (q: object) => ({ delete: "x", deletes: [{ q, limit: 1 }] });
  for (const send of [update, remove]) {
    check(send({ a: 1, b: 2, c: 3 }), { key: ABC }, "one");
    check(send({ _id: 1 }), { key: ABC }, "all");
    check(send({ _id: { $in: [1] } }), { key: ABC }, "refused");
    check(send({ a: 1 }), { key: ABC }, "refused");
    check(send({ d: 1 }), { key: ABC, version: "7.0" }, "refused");
    check(send({ d: 1 }), { key: ABC, version: "8.0" }, "all");
    check(send({ d: 1 }), { key: ABC, version: "9.0" }, "all");
  }
});

Deno.test("changes and removals of many are broadcast without the full shard key", () => {
  const update = (q: object) => ({ update: "x", updates: [{ q, u: {}, multi: true }] });
  const remove = (q: object) => ({ delete: "x", deletes: [{ q, limit: 0 }] });
  for (const send of [update, remove]) {
    check(send({ a: 1, b: 2, c: 3 }), { key: ABC }, "one");
    check(send({ a: 1 }), { key: ABC }, "all");
    check(send({}), { key: ABC }, "all");
  }
});

Deno.test("an upsert needs the full shard key before 7.1, and findAndModify too", () => {
  // SERVER-14813: by the key { a: 1, _id: 1 }, update({ a: 1, b: 2 }, …, { upsert: true }) is refused.
  const key = { a: 1, _id: 1 } as const;
  const upsert = (q: object) => ({ update: "x", updates: [{ q, u: {}, upsert: true }] });
  check(upsert({ a: 1, b: 2 }), { key }, "refused");
  check(upsert({ _id: 1 }), { key }, "refused");
  check(upsert({ a: 1, _id: 1 }), { key }, "one");
  check(upsert({ _id: 1 }), { key, version: "8.0" }, "all");
  const modify = (query: object) => ({ findAndModify: "x", query, update: { $set: { c: 10 } } });
  // DOCS-9306: by the key { _id: 1 }, a range of the key is refused.
  check(modify({ _id: { $gte: 23 } }), { key: { _id: 1 } }, "refused");
  // By the key { _id: 1, userId: 1 }, `_id` alone is refused, and an update of one document is not.
  check(modify({ _id: 1 }), { key: { _id: 1, userId: 1 } }, "refused");
  check(
    { update: "x", updates: [{ q: { _id: 1 }, u: {} }] },
    { key: { _id: 1, userId: 1 } },
    "all",
  );
  check(modify({ a: 3 }), { key: { a: 1, b: 1 } }, "refused");
  check(modify({ a: 3 }), { key: { a: 1, b: 1 }, version: "8.0" }, "all");
});

Deno.test("a change of the shard key needs the full shard key and one document", () => {
  // The example of core/sharding-change-shard-key-value.
  const key = { activityid: 1, userid: 1 } as const;
  const q = { activityid: 1, userid: 2 };
  const u = { $set: { userid: 3 } };
  check({ update: "x", updates: [{ q, u }] }, { key }, "one");
  check({ update: "x", updates: [{ q, u, multi: true }] }, { key }, "refused");
  check(
    { update: "x", updates: [{ q: { _id: 1, activityid: 1 }, u }] },
    { key, version: "8.0" },
    "refused",
  );
  check({ findAndModify: "x", query: { _id: 1 }, update: [u] }, { key, version: "8.0" }, "refused");
  check(
    { update: "x", updates: [{ q: { ...q, _id: 1 }, u: { $set: q }, multi: true }] },
    { key },
    "one",
  );
});

Deno.test("a unique index begins with a shard key that is not hashed", () => {
  const build = (key: object, unique = true) => ({
    createIndexes: "x",
    indexes: [{ key, unique }],
  });
  // The example of tutorial/create-unique-index-on-sharded-collection.
  check(build({ region_id: 1, email: 1 }), { key: { region_id: 1 } }, "all");
  check(build({ email: 1 }), { key: { region_id: 1 } }, "refused");
  check(build({ email: 1 }, false), { key: { region_id: 1 } }, "all");
  check(build({ region_id: 1, email: 1 }), { key: { region_id: 1, _id: 1 } }, "refused");
  check(build({ email: 1 }), { key: HASHED, version: "9.0" }, "refused");
});

Deno.test("transactions refuse distinct, count, $unionWith and new collections", () => {
  const [key, autocommit] = [{ a: 1 } as const, false];
  check({ distinct: "x", query: { a: 1 }, autocommit }, { key, version: "9.0" }, "refused");
  check({ distinct: "x", query: { a: 1 } }, { key }, "one");
  check({ count: "x", query: { a: 1 }, autocommit }, { key }, "refused");
  const union = { aggregate: "x", pipeline: [{ $unionWith: "x" }], autocommit };
  check(union, { key, version: "9.0" }, "refused");
  const lookup = { aggregate: "x", pipeline: [{ $lookup: { from: "y" } }], autocommit };
  check(lookup, { key, version: "7.0" }, "refused");
  check(lookup, { key, version: "8.0" }, "all");
  const insert = { insert: "x", documents: [{ a: 1 }], autocommit };
  check(insert, { key, exists: false }, "refused");
  check(insert, { key }, "one");
});
