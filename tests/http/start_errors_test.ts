import { assertEquals, assertThrows } from "@std/assert";
import {
  all,
  create,
  Framework,
  FrameworkModel,
  one,
  prop,
  type Ref,
  removeAll,
  rest,
  update,
} from "../../mod.ts";

/** Returns the lines of the error of a start. */
function problemsOf(start: () => unknown): string[] {
  return assertThrows(start, TypeError).message.split("\n");
}

@rest({ route: "/first", methods: [all({ sort: ["missing"] } as never), one()] })
class First extends FrameworkModel {
  @prop()
  name?: string;
}

@rest({ route: "/fine", methods: [one()] })
class Fine extends FrameworkModel {
  @prop()
  name?: string;
}

@rest({ route: "third", methods: [all()] })
class Third extends FrameworkModel {}

Deno.test("a start reports the errors of all classes, operations and fields at once", () => {
  @rest(
    {
      route: "/second",
      methods: [all({ page: { max: 0 } }), one({ select: ["nothing"] }), create({ many: 0 })],
    } as never,
  )
  class Second extends FrameworkModel {
    @prop()
    name?: string;
  }
  @rest({ route: "/fourth", methods: [all()] })
  class Fourth extends FrameworkModel {
    @prop({ hiden: true } as never)
    name?: string;
    @prop({ minLength: "" } as never)
    text?: string;
  }
  const models = [First, Second, Third, Fourth];
  assertEquals(problemsOf(() => Framework.initialize({ models })), [
    "Cannot start: 7 problems",
    'Cannot mount "First": all() has "missing" in "sort", which is no field',
    'Cannot mount "Second": all() needs a whole number of at least 1 as "page.max"',
    'Cannot mount "Second": one() has "nothing" in "select", which is no field',
    'Cannot mount "Second": create() needs a whole number of at least 1 as "many"',
    'Cannot mount "Third": route "third" does not start with "/"',
    'Cannot build the schema of "Fourth": @prop of property "name" has no option "hiden"',
    'Cannot build the schema of "Fourth": property "text" has "minLength", which is not a whole number',
  ]);
});

@rest({ route: "/guarded", methods: [one({ preFetch: () => true })] })
class GuardedOne extends FrameworkModel {
  @prop()
  name?: string;
}

@rest({
  route: "/referring",
  methods: [
    all({ populate: { first: true, second: true }, filter: ["open.name"], live: true }),
  ],
})
@rest({ route: "/filtered", methods: [all({ filter: ["first.name", "second.name"] })] })
@rest({ route: "/unknown", methods: [all({ filter: ["a", "name", "b"] } as never)] })
class Referring extends FrameworkModel {
  @prop({ ref: GuardedOne })
  first?: Ref<GuardedOne>;
  @prop({ ref: GuardedOne })
  second?: Ref<GuardedOne>;
  @prop({ ref: Fine })
  open?: Ref<Fine>;
  @prop()
  name?: string;
}

Deno.test("a start reports all references and options of one operation at once", () => {
  const problems = problemsOf(() =>
    Framework.initialize({ models: [Referring, GuardedOne, Fine] })
  );
  assertEquals(problems.map((each) => each.split(/, (?=which|but|as)/)[0]), [
    "Cannot start: 7 problems",
    'Cannot mount "Referring": all() has "first" in "populate"',
    'Cannot mount "Referring": all() has "second" in "populate"',
    'Cannot mount "Referring": all() cannot be live with "open.name" in "filter"',
    'Cannot mount "Referring": all() has "first.name" in "filter"',
    'Cannot mount "Referring": all() has "second.name" in "filter"',
    'Cannot mount "Referring": all() has "a" in "filter"',
    'Cannot mount "Referring": all() has "b" in "filter"',
  ]);
});

Deno.test("a start reports each problem once, and a single problem in its own words", () => {
  @rest({ route: "/inner", methods: [all()] })
  class Inner extends FrameworkModel {
    @prop({ hiden: true } as never)
    name?: string;
  }
  @rest({ route: "/outer", methods: [all(), one()] })
  class Outer extends FrameworkModel {
    @prop({ type: Inner })
    inner?: Inner;
  }
  assertEquals(problemsOf(() => Framework.describe({ models: [Outer, Inner] })), [
    'Cannot build the schema of "Inner": @prop of property "name" has no option "hiden"',
  ]);
});

Deno.test("a start reports the errors of parts beside those of their parent", () => {
  class Part extends FrameworkModel {
    @prop()
    text?: string;
  }
  @rest({ route: "/whole", methods: [all({ sort: ["missing"] } as never), one()] })
  class Whole extends FrameworkModel {
    @rest({ methods: [one({ page: { max: 5 } } as never), update({ many: 5 } as never)] } as never)
    @prop({ type: Part })
    part?: Part;
  }
  assertEquals(problemsOf(() => Framework.initialize({ models: [Whole] })), [
    "Cannot start: 3 problems",
    'Cannot mount "Whole": all() has "missing" in "sort", which is no field',
    'Cannot mount "Part": one() cannot have "page"',
    'Cannot mount "Part": update() cannot have "many"',
  ]);
});

Deno.test("a start reports all classes without a tenant, and all taken paths", () => {
  @rest({ route: "/ones", methods: [all(), one()] })
  class One extends FrameworkModel {}
  @rest({ route: "/ones", methods: [all(), one()] })
  class Other extends FrameworkModel {}
  @rest({ route: "/others", methods: [all()] })
  class Next extends FrameworkModel {}
  assertEquals(problemsOf(() => Framework.initialize({ models: [One, Other] })), [
    "Cannot start: 2 problems",
    'Cannot mount "Other": GET /ones is taken by "One"',
    'Cannot mount "Other": GET /ones/:id is taken by "One"',
  ]);
  const models = [One, Next];
  const [heading] = problemsOf(() => Framework.initialize({ models, tenant: () => "a" }));
  assertEquals(heading, "Cannot start: 2 problems");
});

Deno.test("a start reports all wrong options of initialize(), and the declarations beside them", () => {
  const options = { models: [First, Third], tidi: false, log: "true", onError: "x" } as never;
  assertEquals(problemsOf(() => Framework.initialize(options)).toSorted(), [
    'Cannot initialize: "log" is not a boolean',
    'Cannot initialize: "onError" is not a function',
    'Cannot initialize: there is no option "tidi"',
    'Cannot mount "First": all() has "missing" in "sort", which is no field',
    'Cannot mount "Third": route "third" does not start with "/"',
    "Cannot start: 5 problems",
  ]);
});

Deno.test("an option that was renamed or removed fails with its cure", () => {
  const start = (options: object) =>
    problemsOf(() => Framework.initialize({ models: [Fine], ...options })).join();
  const given: readonly [object, string][] = [
    [{ query: {} }, '"query", which is now "limits.query"'],
    [{ body: {} }, '"body", which is now "limits.body"'],
    [{ live: {} }, '"live", which is now "limits.live"'],
    [{ limits: { live: { heartbeatMS: 1 } } }, 'heartbeatMS", which was removed'],
    [{ limits: { sendBufferBytes: 1 } }, 'sendBufferBytes", which was removed'],
    [{ sendBufferBytes: 1 }, 'sendBufferBytes", which was removed'],
  ];
  for (const [options, message] of given) {
    assertEquals([options, start(options).includes(message)], [options, true], start(options));
  }
  @rest({ route: "/beats", methods: [all({ live: { heartbeatMS: 1 } } as never)] })
  class Beats extends FrameworkModel {}
  @rest({ route: "/masses", methods: [removeAll({ q: "optional", max: Infinity })] })
  class Masses extends FrameworkModel {}
  const [beats = "", masses = ""] = [Beats, Masses].map((model) => start({ models: [model] }));
  assertEquals([beats.includes("which was removed"), masses.includes("or false for no limit")], [
    true,
    true,
  ], beats + masses);
});
