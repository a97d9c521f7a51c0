import * as std from "@std/assert";
import * as mock from "@std/testing/mock";
import {
  type AssertFalse,
  type AssertTrue,
  assertType,
  type Has,
  type IsAny,
  type IsExact,
  type IsNever,
  type IsNullable,
  type IsUnknown,
  type NotHas,
} from "@std/testing/types";
import { FAILING, PASSING } from "./std_cases.ts";
import * as standIn from "./std/@std/assert/1.0.0/mod.ts";
import * as mockStandIn from "./std/@std/testing/1.0.0/mock.ts";

// Where JSR answers, "@std/assert" is the real package, which must pass the table too.
const KINDS: Record<string, typeof std> = {
  "@std/assert": std,
  "the stand-in": standIn,
};
const MOCKS = [mock, mockStandIn as unknown as typeof mock];

for (const [kind, assertions] of Object.entries(KINDS)) {
  Deno.test(`${kind} fails where std fails`, async () => {
    const wrong: string[] = [];
    for (const [name, run] of Object.entries(FAILING)) {
      const error = await caught(() => run(assertions));
      const isRefusal = error instanceof assertions.AssertionError ||
        error instanceof TypeError;
      if (!isRefusal) wrong.push(name);
    }
    std.assertStrictEquals(wrong.join(), "");
  });

  Deno.test(`${kind} passes where std passes`, async () => {
    const wrong: string[] = [];
    for (const [name, run] of Object.entries(PASSING)) {
      const error = await caught(() => run(assertions));
      if (error !== undefined) wrong.push(`${name}: ${error}`);
    }
    std.assertStrictEquals(wrong.join(), "");
  });
}

async function caught(run: () => unknown): Promise<unknown> {
  try {
    await run();
  } catch (error) {
    return error;
  }
}

Deno.test("assertThrows() and assertRejects() give the error back", async () => {
  const error = new RangeError("far");
  for (const { assertThrows, assertRejects } of Object.values(KINDS)) {
    const thrown = assertThrows(() => {
      throw error;
    }, RangeError);
    std.assertStrictEquals(thrown, error);
    const rejected = await assertRejects(() => Promise.reject(error));
    std.assertStrictEquals(rejected, error);
  }
});

for (const { spy, stub, assertSpyCalls } of MOCKS) {
  Deno.test("spy() records arguments, results, errors and this", () => {
    const half = spy((n: number) => {
      if (n < 0) throw new RangeError("negative");
      return n / 2;
    });
    std.assertStrictEquals(half(4), 2);
    std.assertThrows(() => half(-1), RangeError);
    std.assertEquals(half.calls[0]?.args, [4]);
    std.assertEquals(half.calls[0]?.returned, 2);
    std.assertInstanceOf(half.calls[1]?.error, RangeError);
    assertSpyCalls(half, 2);
    std.assertThrows(() => assertSpyCalls(half, 1), Error, "");
  });

  Deno.test("stub() replaces a method until it is disposed", () => {
    const clock = { now: () => 1 };
    {
      using fake = stub(clock, "now", () => 2);
      std.assertStrictEquals(clock.now(), 2);
      std.assertStrictEquals(fake.calls[0]?.self, clock);
      std.assertThrows(() => stub(clock, "now"), Error, "already spying");
    }
    std.assertStrictEquals(clock.now(), 1);
  });

  Deno.test("spy() on a method calls it and can be restored once", () => {
    const list = { items: [1], count: (more: number) => 1 + more };
    const count = spy(list, "count");
    std.assertStrictEquals(list.count(2), 3);
    count.restore();
    std.assert(count.restored);
    std.assertThrows(() => count.restore(), Error, "already restored");
    assertSpyCalls(count, 1);
  });
}

Deno.test("IsExact and its companions tell types apart", () => {
  assertType<IsExact<string, string>>(true);
  assertType<IsExact<{ a: 1 } & { b: 2 }, { a: 1; b: 2 }>>(true);
  // deno-lint-ignore no-explicit-any
  assertType<IsExact<any[], unknown[]>>(false);
  assertType<IsExact<string | undefined, string>>(false);
  assertType<IsExact<{ a?: string }, { a: string }>>(false);
  assertType<IsExact<{ readonly a: 1 }, { a: 1 }>>(false);
  assertType<IsExact<"a", string>>(false);
  assertType<IsExact<never, undefined>>(false);
  assertType<Has<string | number, number>>(true);
  assertType<NotHas<string | number, boolean>>(true);
  assertType<IsNullable<string | null>>(true);
  assertType<IsAny<unknown>>(false);
  assertType<IsUnknown<unknown>>(true);
  assertType<IsNever<never>>(true);
  // @ts-expect-error: what is no `true` is refused
  assertType<IsExact<string, number>>(true);
  // @ts-expect-error: the same, at the level of types
  type _Refused = AssertTrue<IsExact<string, number>>;
  // @ts-expect-error: and the other way round
  type _RefusedToo = AssertFalse<IsExact<string, string>>;
});
