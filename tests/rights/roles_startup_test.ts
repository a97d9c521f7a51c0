import { assert, assertThrows } from "@std/assert";
import {
  all,
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  type ModelClass,
  one,
  prop,
  remove,
  rest,
} from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import { test } from "../harness/testing.ts";

class Comment extends FrameworkModel {
  @prop()
  text?: string;
}

/** What a wrong declaration is made of. */
interface Wrong {
  readonly field?: object;
  readonly items?: object;
  /** The `@rest` of `items`. */
  readonly part?: object;
  readonly rest?: object;
}

/** Makes a class as the compiler does, with options that it would refuse. */
function declare({ field = {}, items = {}, part, rest: options = {} }: Wrong): ModelClass {
  class Ticket extends FrameworkModel {}
  const metadata = {};
  const decorate = (decorator: unknown, name: string) => {
    const context = { kind: "field", name, static: false, private: false, metadata };
    (decorator as (value: undefined, context: object) => void)(undefined, context);
  };
  decorate(prop(field as never), "title");
  decorate(arrayProp({ items: Comment, embedded: true, ...items } as never), "comments");
  if (part !== undefined) decorate(rest(part as never), "comments");
  Object.defineProperty(Ticket, Symbol.metadata, { value: metadata });
  const onClass = rest(
    { route: "/tickets", methods: [all(), one(), create()], ...options } as never,
  );
  (onClass as unknown as (target: unknown, context: object) => void)(Ticket, {
    ...{ kind: "class", name: "Ticket", metadata, addInitializer: () => {} },
  });
  return Ticket;
}

const scope = () => ({});
const guarded = { methods: [all(), one()], scope };

/** Each is an error that names the class and the property. */
const REFUSED: readonly [name: string, wrong: Wrong, message: RegExp][] = [
  ['hidden: "yes"', { field: { hidden: "yes" } }, /"title" has "hidden", which is neither/],
  ["hidden: 1", { field: { hidden: 1 } }, /"title" has "hidden", which is neither/],
  ["hidden: null", { field: { hidden: null } }, /"title" has "hidden", which is neither/],
  ["readonly: 1", { field: { readonly: 1 } }, /"title" has "readonly", which is neither/],
  ["readonly: {}", { field: { readonly: {} } }, /"title" has "readonly", which is neither/],
  [
    "an async hidden",
    { field: { hidden: async () => await Promise.resolve(false) } },
    /"title" has "hidden", which is asynchronous/,
  ],
  [
    "an async readonly",
    { field: { readonly: async () => await Promise.resolve(false) } },
    /"title" has "readonly", which is asynchronous/,
  ],
  [
    "an async hidden of a list",
    { items: { hidden: async () => await Promise.resolve(false) } },
    /"comments" has "hidden", which is asynchronous/,
  ],
  ['apart: "x"', { items: { apart: "x" }, part: guarded }, /"comments" has "apart", which is/],
  ["apart: 1", { items: { apart: 1 }, part: guarded }, /"comments" has "apart", which is/],
  ["apart without routes", { items: { apart: true } }, /"comments" is apart and has no @rest/],
  ["apart of a value", { field: { apart: true } }, /"title" is apart and has no @rest/],
  ["a part with a scope", { part: guarded }, /"comments".*apart: true.*apart: false/],
  [
    "a part with entity hooks",
    { part: { methods: [all({ postFetch: pass }), one({ preSend: pass }), create()] } },
    /"comments".*apart: true.*apart: false/,
  ],
  ['main: "x"', { rest: { main: "x" } }, /"main" is neither true nor false/],
  ["main: 1", { rest: { main: 1 } }, /"main" is neither true nor false/],
  ...([["main", true], ["main", false], ["schemaOptions", {}], ["getConnection", pass]] as const)
    .map(([option, value]): typeof REFUSED[number] => [
      `${option}: ${value} of a property`,
      { items: { apart: true }, part: { ...guarded, [option]: value } },
      new RegExp(
        `the @rest of property "comments" has "${option}", which only the @rest of a class can have`,
      ),
    ]),
];

for (const [name, wrong, message] of REFUSED) {
  test(`initialize() refuses ${name}`, () => {
    const models = [declare(wrong)];
    const { message: told } = assertThrows(() => Framework.initialize({ models }), TypeError);
    assert(message.test(told) && told.includes('"Ticket"'), told);
  });
}

/** What looks alike, and starts. */
const ACCEPTED: readonly [name: string, right: Wrong][] = [
  ["functions", { field: { hidden: () => true, readonly: () => false } }],
  ["booleans", { field: { hidden: true, readonly: false } }],
  ["a part with a scope that says apart: false", { items: { apart: false }, part: guarded }],
  ["apart with routes that show all", { items: { apart: true }, part: { methods: [all()] } }],
  ["apart: false without routes", { items: { apart: false } }],
  ["a part without a scope", { part: { methods: [all(), one({ preSend: pass })] } }],
  ["a part that is not read", { part: { methods: [create(), remove()], scope } }],
  ["main of the only @rest", { rest: { main: true } }],
  ["main: false", { rest: { main: false } }],
];

for (const [name, right] of ACCEPTED) {
  test(`initialize() takes ${name}`, () => {
    Framework.initialize({ models: [declare(right)] });
  });
}
