import { assert, assertThrows } from "@std/assert";
import { z } from "zod";
import {
  action,
  all,
  arrayProp,
  Framework,
  FrameworkModel,
  one,
  prop,
  rest,
} from "../../../mod.ts";
import { pass } from "../../support/both_paths.ts";
import { test } from "../../harness/testing.ts";

class Item extends FrameworkModel {
  @prop()
  text?: string;
}

class Body extends FrameworkModel {
  @prop({ required: true })
  text!: string;
}

const run = () => undefined;
const onOne = { on: "one", run };
const onAll = { on: "all", run };

/** Makes an action as the compiler does, with options that it would refuse. */
const made = (name: unknown, options: unknown = onOne) => action(name as never, options as never);

/** What a declaration is made of. */
interface Declared {
  readonly methods?: readonly unknown[];
  /** The methods of embedded elements. */
  readonly items?: readonly unknown[];
  /** The methods of the one that is embedded. */
  readonly item?: readonly unknown[];
  /** The route of another class, with its methods. */
  readonly other?: readonly [route: string, methods: readonly unknown[]];
}

function declare({ methods = [], items = [], item = [], other }: Declared) {
  @rest({ route: "/tickets", methods: [all(), one(), ...methods as never[]] })
  class Ticket extends FrameworkModel {
    @rest({ methods: [one(), ...items as never[]] })
    @arrayProp({ items: Item, embedded: true })
    items?: Item[];

    @rest({ methods: [one(), ...item as never[]] })
    @prop({ type: Item })
    item?: Item;
  }
  if (other === undefined) return [Ticket];
  @rest({ route: other[0], methods: other[1] as never })
  class Other extends FrameworkModel {}
  return [Ticket, Other];
}

/** Each is an error that names the class. */
const REFUSED: readonly (readonly [name: string, wrong: Declared, message: RegExp])[] = [
  ...["", "a b", "1st", "-a", "a/b", ":id", "é", "a.b", "_a"].map((name) =>
    [`the name "${name}"`, { methods: [made(name)] }, /a name has letters/] as const
  ),
  ["a name that is none", { methods: [made(7)] }, /a name has letters/],
  ["no name", { methods: [made(undefined)] }, /a name has letters/],
  ...["all", "one", "create", "update", "remove", "removeAll"].map((name) =>
    [`the name ${name}`, { methods: [made(name)] }, /has the name of an operation/] as const
  ),
  ["no options", { methods: [made("close", null)] }, /needs "one" or "all"/],
  ["no run", { methods: [made("close", { on: "one" })] }, /needs a function as "run"/],
  ["another run", { methods: [made("close", { ...onOne, run: 1 })] }, /needs a function as "run"/],
  ["another saves", { methods: [made("close", { ...onOne, saves: "no" })] }, /as "saves"/],
  ["no on", { methods: [made("close", { run })] }, /needs "one" or "all" as "on"/],
  ["another on", { methods: [made("close", { run, on: "many" })] }, /needs "one" or "all" as "on"/],
  ["PUT", { methods: [made("close", { ...onOne, method: "PUT" })] }, /"POST" or "GET"/],
  ["get", { methods: [made("close", { ...onOne, method: "get" })] }, /"POST" or "GET"/],
  [
    "a body with GET",
    { methods: [made("close", { ...onOne, method: "GET", body: Body })] },
    /is a GET, and cannot have "body"/,
  ],
  ...([["body", {}], ["body", class {}], ["body", "Body"], ["body", null], ["answer", Date], [
    "answer",
    FrameworkModel,
  ], ["answer", () => Body]] as const).map(([option, type]) =>
    [
      `${String(type)} as ${option}`,
      { methods: [made("close", { ...onOne, [option]: type })] },
      new RegExp(`needs a model class or a Standard Schema as "${option}"`),
    ] as const
  ),
  ["an unknown option", { methods: [made("close", { ...onOne, boby: Body })] }, /no hook "boby"/],
  ["preSave", { methods: [made("close", { ...onOne, preSave: pass })] }, /never runs.*"preSave"/],
  ["preSend", { methods: [made("close", { ...onOne, preSend: pass })] }, /never runs.*"preSend"/],
  ["persist", { methods: [made("close", { ...onOne, persist: pass })] }, /never runs.*"persist"/],
  [
    "postFetch on all",
    { methods: [made("close", { ...onAll, postFetch: pass })] },
    /never runs.*"postFetch"/,
  ],
  ["fetch on all", { methods: [made("close", { ...onAll, fetch: pass })] }, /never runs.*"fetch"/],
  ["lean", { methods: [made("close", { ...onOne, lean: true })] }, /lean/],
  ["page", { methods: [made("close", { ...onAll, page: { max: 1 } })] }, /page/],
  ["populate", { methods: [made("close", { ...onOne, populate: { a: true } })] }, /populate/],
  [
    "a hook that is none",
    { methods: [made("close", { ...onOne, preFetch: 1 })] },
    /not a function/,
  ],
  ["two of one name", { methods: [made("close"), made("close")] }, /POST.*taken|has the path/],
  [
    "two of one name and another case",
    { methods: [made("close"), made("CLOSE")] },
    /taken|has the path/,
  ],
  [
    "GET and POST of one path",
    { methods: [made("close"), made("close", { ...onOne, method: "GET" })] },
    /action "close" has the path of action "close"/,
  ],
  ["the path of a list", { methods: [made("items")] }, /action "items" has the path of/],
  ["the path of one part", { methods: [made("item")] }, /action "item" has the path of/],
  [
    "the path of an action of a part",
    { items: [made("close")], other: ["/tickets/:a/items", [made("close")]] },
    /action "close" has the path of action "close"|is taken by/,
  ],
  [
    "the path of another class",
    { methods: [made("report", onAll)], other: ["/tickets/report", [all()]] },
    /action "report" has the path of all\(\) of "Other"/,
  ],
  [
    "all of an embedded list",
    { items: [made("count", onAll)] },
    /property "items" cannot have count\(\)/,
  ],
  ["all of one part", { item: [made("count", onAll)] }, /property "item".*cannot have count\(\)/],
];

for (const [name, wrong, message] of REFUSED) {
  test(`initialize() refuses an action with ${name}`, () => {
    const models = declare(wrong);
    const { message: told } = assertThrows(() => Framework.initialize({ models }), TypeError);
    assert(message.test(told) && /"Ticket"|"Other"/.test(told), told);
  });
}

/** What looks alike, and starts. */
const ACCEPTED: readonly [name: string, right: Declared][] = [
  ["a name with digits and dashes", { methods: [made("close-2_b")] }],
  ["the name of a field", { methods: [made("text")] }],
  ["one name on one and on all", { methods: [made("close"), made("close", onAll)] }],
  ["one name at two levels", { methods: [made("close")], items: [made("close")] }],
  ["the name of a property, on all", { methods: [made("items", onAll)] }],
  ["hooks", { methods: [made("close", { ...onOne, preFetch: () => true, postFetch: pass })] }],
  ["words", { methods: [made("close", { ...onOne, summary: "Closes", tags: ["a"] })] }],
  ["a schema", { methods: [made("close", { ...onOne, body: z.object({}), answer: z.any() })] }],
];

for (const [name, right] of ACCEPTED) {
  test(`initialize() takes an action with ${name}`, () => {
    Framework.initialize({ models: declare(right) });
  });
}
