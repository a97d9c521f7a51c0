import { assertEquals, assertThrows } from "@std/assert";
import {
  all,
  define,
  Framework,
  FrameworkModel,
  getModel,
  type ModelClass,
  one,
  prop,
  rest,
} from "../../mod.ts";

/** Declares a class past the compiler, as JavaScript would. */
const defineLoosely = define as unknown as (target: unknown, options?: unknown) => void;

/** Expects that a declaration fails at once with this message. */
function assertRefused(message: string, target: unknown, options?: unknown): void {
  const error = assertThrows(() => defineLoosely(target, options), TypeError);
  assertEquals(error.message, message);
}

const ROUTE = { route: "/notes", methods: [all()] };

Deno.test("define() refuses a value that is no model class", () => {
  const rule = "it does not extend FrameworkModel";
  assertRefused(
    `Cannot define undefined: ${rule}: modules that import each other load classes late, so call define() in the module of the class`,
    undefined,
    { fields: {} },
  );
  assertRefused(`Cannot define Note: ${rule}`, "Note", { fields: {} });
  assertRefused(`Cannot define "Plain": ${rule}`, class Plain {}, { fields: {} });
  assertRefused(`Cannot define "FrameworkModel": ${rule}`, FrameworkModel, { fields: {} });
  assertRefused(`Cannot define "": ${rule}`, class {}, { fields: {} });
});

Deno.test("define() refuses a class without a name", () => {
  assertRefused(
    "Cannot define a class without a name: the collection is named after the class",
    class extends FrameworkModel {},
    { fields: {} },
  );
});

Deno.test("define() refuses a class that is declared already, in either form", () => {
  const message =
    'Cannot define "Note": it is declared already, by decorators or by another define()';
  {
    class Note extends FrameworkModel {}
    define(Note, { fields: {} });
    assertRefused(message, Note, { fields: {} });
  }
  {
    class Note extends FrameworkModel {
      @prop()
      text?: string;
    }
    assertRefused(message, Note, { fields: { text: {} } });
  }
  @rest(ROUTE)
  class Note extends FrameworkModel {}
  assertRefused(message, Note, { fields: {} });
});

Deno.test("define() refuses a class that is in use already", () => {
  const message = (name: string) =>
    `Cannot define "${name}": it is in use already, by a router, by getModel() or by another model: ` +
    "call define() directly after the class";
  class Used extends FrameworkModel {}
  getModel(Used, undefined);
  assertRefused(message("Used"), Used, { fields: {} });
  class Embedded extends FrameworkModel {}
  class Note extends FrameworkModel {
    part?: Embedded;
  }
  define(Note, { fields: { part: { type: Embedded } }, rest: ROUTE });
  Framework.initialize({ models: [Note] });
  assertRefused(message("Embedded"), Embedded, { fields: {} });
});

/** Options that no class takes, and the problem that the message names. */
const OPTIONS: Record<string, readonly [options: unknown, problem: string]> = {
  "no options": [undefined, "its options are no object"],
  "a list of options": [[], "its options are no object"],
  "an option that there is not": [{ fields: {}, rests: [] }, 'define() has no option "rests"'],
  "no fields": [{ rest: ROUTE }, '"fields" is no object'],
  "fields in a list": [{ fields: ["text"] }, '"fields" is no object'],
  "a route that is no object": [{ fields: {}, rest: "/notes" }, 'has a "rest" that is no object'],
  "a list of no routes": [
    { fields: {}, rest: [] },
    'has an empty "rest": leave it out, or list a route',
  ],
  "a list with a text": [{ fields: {}, rest: [ROUTE, 5] }, 'has a "rest" that is no object'],
  "an entry that is no object": [
    { fields: { text: String } },
    'property "text" has an entry that is no object: write {} for a string',
  ],
  "an entry that is undefined": [
    { fields: { text: undefined } },
    'property "text" has an entry that is no object: write {} for a string',
  ],
  "an entry of a method": [
    { fields: { shout: {} } },
    'property "shout" is a method, and methods are not stored: leave it out',
  ],
  "an entry of an inherited method": [
    { fields: { whisper: {} } },
    'property "whisper" is a method, and methods are not stored: leave it out',
  ],
  "an entry of a getter": [
    { fields: { length: {} } },
    'property "length" is a getter, and getters are not stored: leave it out',
  ],
  "an entry of an accessor with a setter": [
    { fields: { full: {} } },
    'property "full" is an accessor with a setter, and accessors are not stored: ' +
    "replace the setter by a method",
  ],
  "an entry of an accessor with a setter alone": [
    { fields: { secret: {} } },
    'property "secret" is an accessor with a setter, and accessors are not stored: ' +
    "replace the setter by a method",
  ],
  "a property with a list of no routes": [
    { fields: { text: { rest: [] } } },
    'property "text" has an empty "rest": leave it out, or list a route',
  ],
};

class Base extends FrameworkModel {
  whisper(): void {}
}

/** Makes a class of its own, which nothing has declared. */
function makeNote(): ModelClass {
  class Note extends Base {
    shout(): void {}
    get length(): number {
      return 0;
    }
    get full(): string {
      return "";
    }
    set full(_value: string) {}
    set secret(_value: string) {}
  }
  return Note;
}

for (const [name, [options, problem]] of Object.entries(OPTIONS)) {
  Deno.test(`define() refuses ${name}, and leaves the class undeclared`, () => {
    const target = makeNote();
    assertRefused(`Cannot define "Note": ${problem}`, target, options);
    defineLoosely(target, { fields: {} });
  });
}

class Person extends FrameworkModel {
  name?: string;
}
define(Person, { fields: { name: {} } });

class Decorated extends FrameworkModel {
  @prop()
  name?: string;
}

Deno.test("define() of a subclass refuses every base but the real one", () => {
  class Actor extends Person {}
  const refused = (given: string) =>
    `Cannot define "Actor": "extends" is ${given}, and the class extends "Person"`;
  for (const base of [Decorated, FrameworkModel, Actor]) {
    assertRefused(refused(`"${base.name}"`), Actor, { extends: base, fields: {} });
  }
  assertRefused(refused("undefined"), Actor, { extends: undefined, fields: {} });
  assertRefused(refused("Person"), Actor, { extends: "Person", fields: {} });
  assertRefused('Cannot define "Actor": it extends "Person": add extends: Person', Actor, {
    fields: {},
  });
  define(Actor, { extends: Person, fields: {} });
  class Star extends Actor {}
  const grandparent = 'Cannot define "Star": "extends" is "Person", and the class extends "Actor"';
  assertRefused(grandparent, Star, { extends: Person, fields: {} });
});

Deno.test("define() of a subclass refuses a base that is not declared", () => {
  class Between extends Person {}
  class Actor extends Between {}
  const message =
    'Cannot define "Actor": its base "Between" is not declared: call define(Between, …) before';
  assertRefused(message, Actor, { extends: Between, fields: {} });
  const missing = 'Cannot define "Actor": it extends "Between": add extends: Between';
  assertRefused(missing, Actor, { fields: {} });
});

Deno.test("define() takes a base without fields, and FrameworkModel by its name", () => {
  class Note extends Base {}
  define(Note, { fields: {}, rest: ROUTE });
  assertEquals(Framework.describe({ models: [Note] }).length, 1);
  class Other extends FrameworkModel {}
  define(Other, { extends: FrameworkModel, fields: {}, rest: { route: "/o", methods: [one()] } });
  assertEquals(Framework.describe({ models: [Other] }).length, 1);
});
