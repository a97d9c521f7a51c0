import { assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { RestError } from "../../errors/rest_error.ts";
import { and, asFilter, keepsEntity, onlyIf, or } from "./compose.ts";
import type { FrameworkRequest } from "./framework_request.ts";
import type { EntityHook, PreFetch } from "./hooks.ts";

interface Thing {
  name: string;
}

type Hook = EntityHook<Thing>;

const req = {} as FrameworkRequest;
const thing: Thing = { name: "a" };

const pass: Hook = (_req, entity) => entity;
const refuse = (text: string): Hook => () => {
  throw new RestError(403, text);
};
const append = (text: string): Hook => (_req, { name }) => Promise.resolve({ name: name + text });

/** Every form that a rejection may take, synchronous and not. */
const REJECTIONS: [string, Hook][] = [
  ["throws", refuse("no")],
  ["a promise that rejects", () => Promise.reject(new RestError(403, "no"))],
  ["null", () => null],
  ["undefined", (() => undefined) as unknown as Hook],
  ["false", (() => false) as unknown as Hook],
  ["a promise of null", () => Promise.resolve(null)],
  ["a promise of undefined", (() => Promise.resolve()) as unknown as Hook],
  ["a promise of false", (() => Promise.resolve(false)) as unknown as Hook],
];

Deno.test("and() gives each hook the entity of the one before when all pass", async () => {
  const result = await and(append("b"), append("c"), pass)(req, thing);

  assertEquals(result, { name: "abc" });
});

Deno.test("and() gives the entity itself when there is no hook", async () => {
  assertStrictEquals(await and<Thing>()(req, thing), thing);
  assertEquals(await (and() as unknown as PreFetch)(req), true);
});

Deno.test("and() throws the error of the first hook that rejects, and runs none after it", async () => {
  let ran = 0;
  const count: Hook = (_req, entity) => {
    ran++;
    return entity;
  };

  const run = and(count, refuse("first"), count, refuse("second"))(req, thing);

  await assertRejects(() => Promise.resolve(run), RestError, "first");
  assertEquals(ran, 1);
});

Deno.test("and() rejects, and runs no further hook, for every form of rejection", async (t) => {
  for (const [form, hook] of REJECTIONS) {
    await t.step(form, async () => {
      let ran = false;
      const later: Hook = (_req, entity) => {
        ran = true;
        return entity;
      };
      const result = await asFilter(and(hook, later))(req, thing);
      assertEquals([result || null, ran], [null, false]);
    });
  }
});

Deno.test("or() gives the result of the first hook that passes, and runs none after it", async () => {
  let ran = false;
  const late: Hook = (_req, entity) => {
    ran = true;
    return entity;
  };

  const result = await or(refuse("no"), append("b"), late)(req, thing);

  assertEquals(result, { name: "ab" });
  assertEquals(ran, false);
});

Deno.test("or() runs the next hook for every form of rejection", async (t) => {
  for (const [form, hook] of REJECTIONS) {
    await t.step(form, async () => {
      assertStrictEquals(await or(hook, pass)(req, thing), thing);
    });
  }
});

Deno.test("or() gives every alternative the original entity", async () => {
  const seen: unknown[] = [];
  const look = (_req: FrameworkRequest, entity: Thing) => {
    seen.push(entity);
    return null;
  };

  await or<Thing>(look, and(append("b"), look), look)(req, thing);

  assertEquals(seen, [thing, { name: "ab" }, thing]);
  assertStrictEquals(seen[2], thing);
});

Deno.test("or() ends with the rejection of the last hook when all reject", async () => {
  await assertRejects(
    () => Promise.resolve(or(refuse("first"), () => null, refuse("last"))(req, thing)),
    RestError,
    "last",
  );
  assertEquals(await or(refuse("first"), () => null)(req, thing), null);
});

Deno.test("or() rejects when there is no hook", async () => {
  assertEquals(await or<Thing>()(req, thing), null);
  assertEquals(await (or() as unknown as PreFetch)(req), null as unknown as boolean);
});

Deno.test("and() and or() pass a preFetch with true and nothing else", async (t) => {
  const yes: PreFetch = () => true;
  for (const value of [false, null, undefined, 1, "true", {}, [], Promise.resolve(1)]) {
    const no = (() => value) as unknown as PreFetch;
    await t.step(String(value), async () => {
      assertEquals(await and(yes, yes)(req), true);
      assertEquals(await and(no, yes)(req) as unknown, await value ?? null as unknown);
      assertEquals(await or(no, yes)(req), true);
      assertEquals(await or(no, no)(req) === true, false);
    });
  }
});

Deno.test("and(), or() and asFilter() hand request, entity and previous on", async () => {
  const previous: Thing = { name: "before" };
  const calls: unknown[][] = [];
  const look = (...args: unknown[]) => {
    calls.push(args);
    return args[1] as Thing;
  };

  await and<Thing>(look, look)(req, thing, previous);
  await or<Thing>(look)(req, thing, previous);
  await asFilter(look as Hook)(req, thing, previous);

  assertEquals(calls.length, 4);
  for (const call of calls) assertEquals(call, [req, thing, previous]);
});

Deno.test("and(), or() and asFilter() nest in each other", async (t) => {
  const a = append("b");
  const no = refuse("no");
  const cases: [string, Hook, string | null][] = [
    ["and(or, or)", and(or(no, a), or(a, no)), "abb"],
    ["or(and, and)", or(and(a, no), and(a, a)), "abb"],
    ["or(and(or))", or(and(or(no, no), a), pass), "a"],
    ["and(asFilter, a)", and(asFilter(no), a), null],
    ["or(asFilter, a)", or(asFilter(no), a), "ab"],
    ["asFilter(and(or, and))", asFilter(and(or(no, a), and(a, no))), null],
    ["asFilter(asFilter)", asFilter(asFilter(a)), "ab"],
  ];
  for (const [name, hook, expected] of cases) {
    await t.step(name, async () => {
      const result = await hook(req, thing) as Thing | null;
      assertEquals(result && result.name, expected);
    });
  }
});

Deno.test("asFilter() gives null when the hook throws, whatever it throws", async (t) => {
  for (const thrown of [new RestError(403, "no"), new TypeError("bug"), "text", null, undefined]) {
    await t.step(String(thrown), async () => {
      const sync: Hook = () => {
        throw thrown;
      };
      assertEquals(await asFilter(sync)(req, thing), null);
      assertEquals(await asFilter<Thing>(() => Promise.reject(thrown))(req, thing), null);
    });
  }
});

Deno.test("asFilter() gives the result of the hook when it does not throw", async () => {
  assertStrictEquals(await asFilter(pass)(req, thing), thing);
  assertEquals(await asFilter(append("b"))(req, thing), { name: "ab" });
  assertEquals(await asFilter<Thing>(() => null)(req, thing), null);
});

Deno.test("asFilter() turns a preFetch that throws into one that does not pass", async () => {
  const denies: PreFetch = () => {
    throw new RestError(401, "who?");
  };

  assertEquals(await asFilter(denies)(req) as unknown, null);
});

Deno.test("onlyIf() gives the entity itself where its test gives true, and null otherwise", async () => {
  for (const given of [true, false, undefined, 1, "true", null]) {
    for (const wait of [false, true]) {
      const test = () => (wait ? Promise.resolve(given) : given) as boolean;
      const result = await onlyIf<Thing>(test)(req, thing);
      assertStrictEquals(result, given === true ? thing : null);
    }
  }
  const grows = onlyIf<Thing>((_req, now, before) => now.name > String(before?.name));
  assertStrictEquals(await grows(req, { name: "b" }, { name: "c" }), null);
  await assertRejects(async () => {
    await onlyIf<Thing>(refuse("no") as never)(req, thing);
  }, RestError);
});

Deno.test("what is composed of hooks that keep the entity keeps it", () => {
  const keeps = onlyIf<Thing>(() => true);
  assertEquals([and(keeps, keeps), or(keeps, and(keeps)), asFilter(keeps)].map(keepsEntity), [
    ...[true, true, true],
  ]);
  assertEquals([pass, and(keeps, pass), or(pass), asFilter(pass)].map(keepsEntity), [
    ...[false, false, false, false],
  ]);
});
