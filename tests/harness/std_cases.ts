import type * as std from "@std/assert";

/** Uses one assertion, of whichever package it is handed. */
export type Case = (assertions: typeof std) => unknown;

class Cat {
  constructor(readonly name: string) {}
}

class Dog {
  constructor(readonly name: string) {}
}

function boom(error: unknown): () => never {
  return () => {
    throw error;
  };
}

const now = new Date(0);

const UNEQUAL: Record<string, [unknown, unknown]> = {
  "numbers": [1, 2],
  "a number and its text": [1, "1"],
  "null and undefined": [null, undefined],
  "null and an object": [null, {}],
  "undefined and a missing key": [{ a: undefined }, {}],
  "a key more": [{ a: 1 }, { a: 1, b: 2 }],
  "another key with undefined": [{ a: undefined }, { b: undefined }],
  "deep values": [{ a: [{ b: 1 }] }, { a: [{ b: 2 }] }],
  "the order of an array": [[1, 2], [2, 1]],
  "an array and its object": [[1], { 0: 1 }],
  "symbol keys": [{ [Symbol.for("a")]: 1 }, { [Symbol.for("a")]: 2 }],
  "dates": [now, new Date(1)],
  "an invalid date": [now, new Date(NaN)],
  "a date and its number": [now, 0],
  "patterns": [/a/, /a/g],
  "URLs": [new URL("http://a/"), new URL("http://b/")],
  "classes of one shape": [new Cat("Tom"), new Dog("Tom")],
  "a class and a plain object": [new Cat("Tom"), { name: "Tom" }],
  "instances": [new Cat("Tom"), new Cat("Kit")],
  "maps": [new Map([["a", 1]]), new Map([["a", 2]])],
  "maps with other keys": [new Map([[{ a: 1 }, 1]]), new Map([[{ a: 2 }, 1]])],
  "sets": [new Set([1]), new Set([2])],
  "sets of objects": [new Set([{ a: 1 }]), new Set([{ a: 2 }])],
  "a set and a map": [new Set(), new Map()],
  "bytes": [new Uint8Array([1]), new Uint8Array([2])],
  "bytes of another width": [new Uint8Array([1]), new Uint16Array([1])],
  "buffers": [new ArrayBuffer(1), new ArrayBuffer(2)],
  "functions": [() => 1, () => 1],
  "errors": [new Error("a"), new Error("b")],
};

const circle: { self?: unknown } = {};
circle.self = circle;
const otherCircle: { self?: unknown } = {};
otherCircle.self = otherCircle;

const EQUAL: Record<string, [unknown, unknown]> = {
  "NaN": [NaN, NaN],
  "zeros": [0, -0],
  "the order of keys": [{ a: 1, b: 2 }, { b: 2, a: 1 }],
  "nested objects": [{ a: [{ b: now }] }, { a: [{ b: new Date(0) }] }],
  "an object without a prototype": [Object.create(null), {}],
  "invalid dates": [new Date(NaN), new Date(NaN)],
  "instances": [new Cat("Tom"), new Cat("Tom")],
  "maps in another order": [
    new Map([[{ a: 1 }, 1], [{ a: 2 }, 2]]),
    new Map([[{ a: 2 }, 2], [{ a: 1 }, 1]]),
  ],
  "sets of objects": [new Set([{ a: 1 }]), new Set([{ a: 1 }])],
  "bytes": [new Uint8Array([1, 2]), new Uint8Array([1, 2])],
  "patterns": [/a/g, /a/g],
  "circles": [circle, otherCircle],
};

function eachPair(
  pairs: Record<string, [unknown, unknown]>,
  name: string,
  run: (assertions: typeof std, a: unknown, b: unknown) => void,
): Record<string, Case> {
  return Object.fromEntries(
    Object.entries(pairs).flatMap(([what, [a, b]]) => [
      [`${name} of ${what}`, (s: typeof std) => run(s, a, b)],
      [`${name} of ${what}, swapped`, (s: typeof std) => run(s, b, a)],
    ]),
  );
}

/** What fails under std. */
export const FAILING: Record<string, Case> = {
  ...eachPair(UNEQUAL, "assertEquals()", (s, a, b) => s.assertEquals(a, b)),
  ...eachPair(EQUAL, "assertNotEquals()", (s, a, b) => s.assertNotEquals(a, b)),
  "assertEquals() of weak maps": (s) => s.assertEquals(new WeakMap(), new WeakMap()),
  "assert() of 0": (s) => s.assert(0),
  "assertFalse() of text": (s) => s.assertFalse("no"),
  "assertExists() of null": (s) => s.assertExists(null),
  "assertExists() of undefined": (s) => s.assertExists(undefined),
  "fail()": (s) => s.fail(),
  "unimplemented()": (s) => s.unimplemented(),
  "unreachable()": (s) => s.unreachable(),
  "assertStrictEquals() of alike objects": (s) => s.assertStrictEquals({}, {}),
  "assertStrictEquals() of zeros": (s) => s.assertStrictEquals(0, -0),
  "assertNotStrictEquals() of NaN": (s) => s.assertNotStrictEquals(NaN, NaN),
  "assertInstanceOf() of another": (s) => s.assertInstanceOf(new Cat(""), Dog),
  "assertInstanceOf() of null": (s) => s.assertInstanceOf(null, Object),
  "assertNotInstanceOf()": (s) => s.assertNotInstanceOf(new Cat(""), Cat),
  "assertMatch()": (s) => s.assertMatch("a", /b/),
  "assertNotMatch()": (s) => s.assertNotMatch("a", /a/),
  "assertStringIncludes()": (s) => s.assertStringIncludes("abc", "ac"),
  "assertArrayIncludes()": (s) => s.assertArrayIncludes([1, 2], [2, 3]),
  "assertArrayIncludes() of objects": (s) =>
    s.assertArrayIncludes<object>([{ a: 1 }], [{ a: 1, b: 1 }]),
  "assertObjectMatch()": (s) => s.assertObjectMatch({ a: 1 }, { a: 2 }),
  "assertObjectMatch() of a missing key": (s) => s.assertObjectMatch({ a: 1 }, { a: 1, b: 1 }),
  "assertObjectMatch() of a missing undefined": (s) =>
    s.assertObjectMatch({ a: 1 }, { a: 1, b: undefined }),
  "assertObjectMatch() of nothing in common": (s) => s.assertObjectMatch({ a: 1 }, { b: 1 }),
  "assertObjectMatch() deep": (s) =>
    s.assertObjectMatch({ a: { b: [{ c: 1 }] } }, { a: { b: [{ c: 2 }] } }),
  "assertObjectMatch() of a shorter array": (s) => s.assertObjectMatch({ a: [1] }, { a: [1, 2] }),
  "assertObjectMatch() of a date": (s) => s.assertObjectMatch({ a: now }, { a: new Date(1) }),
  "assertObjectMatch() of a set": (s) =>
    s.assertObjectMatch({ a: new Set([1]) }, { a: new Set([2]) }),
  "assertObjectMatch() of a map": (s) =>
    s.assertObjectMatch({ a: new Map([[1, 1]]) }, { a: new Map([[1, 2]]) }),
  "assertObjectMatch() of an object and null": (s) => s.assertObjectMatch({ a: null }, { a: {} }),
  "assertThrows() of what does not": (s) => s.assertThrows(() => 1),
  "assertThrows() of another class": (s) => s.assertThrows(boom(new Error("a")), TypeError),
  "assertThrows() of another message": (s) => s.assertThrows(boom(new Error("a")), Error, "b"),
  "assertThrows() of no error": (s) => s.assertThrows(boom("a"), Error),
  "assertRejects() of what resolves": (s) => s.assertRejects(() => Promise.resolve()),
  "assertRejects() of what throws": (s) => s.assertRejects(boom(new Error())),
  "assertRejects() of no promise": (s) => s.assertRejects(() => 1 as unknown as Promise<void>),
  "assertRejects() of another class": (s) =>
    s.assertRejects(() => Promise.reject(new Error("a")), TypeError),
  "assertRejects() of another message": (s) =>
    s.assertRejects(() => Promise.reject(new Error("a")), Error, "b"),
  "assertRejects() of no error": (s) => s.assertRejects(() => Promise.reject("a"), Error),
  "assertGreater()": (s) => s.assertGreater(1, 1),
  "assertGreater() of NaN": (s) => s.assertGreater(NaN, 1),
  "assertGreaterOrEqual()": (s) => s.assertGreaterOrEqual(1, 2),
  "assertLess()": (s) => s.assertLess(1, 1),
  "assertLessOrEqual()": (s) => s.assertLessOrEqual(2, 1),
  "assertLessOrEqual() of NaN": (s) => s.assertLessOrEqual(NaN, 1),
  "assertAlmostEquals()": (s) => s.assertAlmostEquals(1, 1.001),
  "assertAlmostEquals() beyond": (s) => s.assertAlmostEquals(1, 1.2, 0.1),
  "assertAlmostEquals() of NaN": (s) => s.assertAlmostEquals(NaN, 1),
  "assertIsError() of text": (s) => s.assertIsError("a"),
};

/** What passes under std. */
export const PASSING: Record<string, Case> = {
  ...eachPair(EQUAL, "assertEquals()", (s, a, b) => s.assertEquals(a, b)),
  ...eachPair(
    UNEQUAL,
    "assertNotEquals()",
    (s, a, b) => s.assertNotEquals(a, b),
  ),
  "assert()": (s) => s.assert("yes"),
  "assertFalse()": (s) => s.assertFalse(0),
  "assertExists() of 0": (s) => s.assertExists(0),
  "assertStrictEquals() of NaN": (s) => s.assertStrictEquals(NaN, NaN),
  "assertInstanceOf()": (s) => s.assertInstanceOf(new Cat(""), Cat),
  "assertMatch()": (s) => s.assertMatch("abc", /b/),
  "assertNotMatch()": (s) => s.assertNotMatch("abc", /d/),
  "assertStringIncludes()": (s) => s.assertStringIncludes("abc", "bc"),
  "assertArrayIncludes()": (s) => s.assertArrayIncludes([{ a: 1 }, 2, NaN], [NaN, { a: 1 }]),
  "assertObjectMatch()": (s) =>
    s.assertObjectMatch({ a: 1, b: { c: [{ d: 1, e: 2 }] } }, {
      b: { c: [{ d: 1 }] },
    }),
  "assertObjectMatch() of a class": (s) =>
    s.assertObjectMatch({ cat: new Cat("Tom") }, { cat: { name: "Tom" } }),
  "assertObjectMatch() of a longer array": (s) => s.assertObjectMatch({ a: [1, 2] }, { a: [1] }),
  "assertThrows()": (s) => s.assertThrows(boom(new TypeError("bad a")), TypeError, "bad"),
  "assertThrows() of a subclass": (s) => s.assertThrows(boom(new TypeError("a")), Error),
  "assertThrows() of no error": (s) => s.assertThrows(boom("a")),
  "assertRejects()": (s) =>
    s.assertRejects(() => Promise.reject(new TypeError("a")), TypeError, "a"),
  "assertGreater()": (s) => s.assertGreater(2, 1),
  "assertGreaterOrEqual()": (s) => s.assertGreaterOrEqual(1, 1),
  "assertLess()": (s) => s.assertLess(now, new Date(1)),
  "assertLessOrEqual()": (s) => s.assertLessOrEqual(1, 1),
  "assertAlmostEquals()": (s) => s.assertAlmostEquals(1, 1 + 1e-8),
};
