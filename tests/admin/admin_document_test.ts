import { assertEquals, assertNotMatch } from "@std/assert";
import {
  action,
  all,
  arrayProp,
  create,
  FrameworkModel,
  one,
  prop,
  remove,
  replace,
} from "../../mod.ts";
import { type ModelClass, type Ref, rest, type Restricted, update } from "../../mod.ts";
import type { PageDocument, PagePart } from "../../src/admin/document.ts";
import process from "node:process";
import { test } from "../harness/testing.ts";
import { Article as GuestArticle } from "./guest_models.ts";
import { isGuest, serveAdmin, staffOnly } from "./admin_app.ts";

@rest({ route: "/vendors", methods: [all({ preFetch: staffOnly }), one({ preFetch: staffOnly })] })
class Vendor extends FrameworkModel {
  @prop({ required: true })
  iban!: string;
}

class Remark extends FrameworkModel {
  @prop()
  text?: string;
}

const discount = action("discount", { on: "one", preFetch: staffOnly, run: () => undefined });

/** An article, of which guests see a part. */
@rest({
  route: "/articles",
  trash: { see: (req) => !isGuest(req) },
  history: true,
  methods: [
    all({ filter: ["name", "margin"], sort: ["name", "margin"], page: { max: 50 } }),
    one(),
    create(),
    update(),
    remove({ preFetch: staffOnly }),
    discount,
  ],
})
class Article extends FrameworkModel {
  @prop({ required: true })
  name!: string;

  @prop({ type: Number, default: 7, description: "The margin", hidden: isGuest })
  margin?: Restricted<number>;

  @prop({ ref: () => Vendor })
  vendor?: Ref<Vendor>;

  @rest({ methods: [all(), create({ preFetch: staffOnly })] })
  @arrayProp({ items: Remark, embedded: true })
  remarks?: Remark[];
}

function namesIn({ models }: PageDocument) {
  return models.map(({ name, operations, added, actions, parts, hasTrash }) => ({
    name,
    operations: Object.keys(operations).sort(),
    added: Object.keys(added).sort(),
    actions: actions.map((each) => each.name),
    parts: parts.map(({ property, operations }) => [property, ...Object.keys(operations).sort()]),
    hasTrash,
  }));
}

test("the document has the operations, actions, parts and the trash that the caller may use", async () => {
  await using app = await serveAdmin([Article, Vendor]);
  assertEquals(namesIn(await app.read("staff")), [
    {
      name: "articles",
      operations: ["all", "create", "one", "remove", "update"],
      added: ["history", "restore", "revert"],
      actions: ["discount"],
      parts: [["remarks", "all", "create"]],
      hasTrash: true,
    },
    {
      name: "vendors",
      operations: ["all", "one"],
      added: [],
      actions: [],
      parts: [],
      hasTrash: false,
    },
  ]);
  assertEquals(namesIn(await app.read("guest")), [{
    name: "articles",
    operations: ["all", "create", "one", "update"],
    added: ["history", "revert"],
    actions: [],
    parts: [["remarks", "all"]],
    hasTrash: false,
  }]);
});

test("the document has the defaults of fields that its reader sees and others do not", async () => {
  await using app = await serveAdmin([Article, Vendor]);
  const defaultsOf = async (role: string) =>
    (await app.read(role)).models[0]?.operations.create?.body
      ?.flatMap((field) => "default" in field ? [[field.name, field.default]] : []);
  assertEquals(await defaultsOf("staff"), [["margin", 7], ["remarks", []]]);
  assertEquals(await defaultsOf("guest"), [["remarks", []]]);
});

test("the document of a guest is the one of an API that has nothing else", async () => {
  const readAsGuest = async (models: readonly ModelClass[]) => {
    await using app = await serveAdmin(models);
    return JSON.stringify(await app.read("guest"));
  };
  const seen = await readAsGuest([Article, Vendor]);
  assertNotMatch(seen, /margin|iban|vendors|Vendor|discount|restore|preFetch/);
  assertEquals(seen, await readAsGuest([GuestArticle]));
});

test("the document has replace() only if no hook of a read may change what its form sends back", async () => {
  const operationsOf = async (ofOne: object, ofAll: object = {}) => {
    @rest({ route: "/stamps", methods: [all(ofAll), one(ofOne), replace()] })
    class Stamp extends FrameworkModel {
      @prop()
      iban?: string;
    }
    await using app = await serveAdmin([Stamp]);
    const { models: [stamps] } = await app.read("staff");
    return Object.keys(stamps?.operations ?? {}).sort();
  };
  assertEquals(await operationsOf({}), ["all", "one", "replace"]);
  for (const name of ["preSend", "postFetch", "fetch"]) {
    assertEquals(await operationsOf({ [name]: (_: unknown, each: object) => each }), [
      "all",
      "one",
    ]);
  }
});

test("the document has no replace() if the model shows other values than it stores", async () => {
  const mask = (value: unknown) => String(value).replace(/.(?=..)/g, "*");
  class Account extends FrameworkModel {
    @prop({ transform: mask })
    iban?: string;
  }
  class Masked extends FrameworkModel {
    @prop({ transform: mask })
    iban?: string;
  }
  class Nested extends FrameworkModel {
    @arrayProp({ items: Account, embedded: true })
    accounts?: Account[];
  }
  for (const base of [Masked, Nested]) {
    @rest({ route: "/stamps", methods: [all(), one(), replace()] })
    class Stamp extends (base as typeof Masked) {}
    await using app = await serveAdmin([Stamp]);
    const { models: [stamps] } = await app.read("staff");
    assertEquals(Object.keys(stamps?.operations ?? {}).sort(), ["all", "one"], base.name);
  }
});

test("two models whose paths differ only in a slash have names of their own", async () => {
  @rest({ route: "/a-b", methods: [all()] })
  class Hyphen extends FrameworkModel {}
  @rest({ route: "/a/b", methods: [all()] })
  class Slash extends FrameworkModel {}
  await using app = await serveAdmin([Hyphen, Slash]);
  const { models } = await app.read();
  assertEquals(models.map(({ name, path }) => [name, path]), [["a-b", "/a-b"], ["a~b", "/a/b"]]);
});

test("a caller who is not signed in gets no models, and the word that a login shows more", async () => {
  await using app = await serveAdmin([Vendor], {
    login: { header: "role", label: "Role", help: "Say staff" },
  });
  const document = await app.read("stranger");
  assertEquals(document, {
    title: "Test",
    apiPath: "..",
    login: { header: "role", label: "Role", help: "Say staff" },
    models: [],
    needsLogin: true,
  });
  assertEquals((await app.read("guest")).needsLogin, false);
});

test("the document has the routes for which see() gives true, and no others", async () => {
  const answers: unknown[] = [true, 1, "true", undefined, false, Promise.resolve(true)];
  for (const answer of answers) {
    const isSeen = await answer === true;
    await using app = await serveAdmin([Article, Vendor], {
      see: (req, { model, operation }) =>
        model !== "Vendor" || operation !== "all" || req.headers.role !== "staff" ||
        answer as boolean,
    });
    const names = namesIn(await app.read("staff")).map(({ name }) => name);
    assertEquals(names, isSeen ? ["articles", "vendors"] : ["articles"], String(answer));
    const text = JSON.stringify(await app.read("staff"));
    assertEquals(text.includes(`"model":"Vendor"`), isSeen, String(answer));
  }
});

test("an error of see() is answered as an error, and nothing is told", async () => {
  for (const see of [() => Promise.reject(new Error("secret")), () => JSON.parse("{secret")]) {
    await using app = await serveAdmin([Article], { see });
    const { status, text } = await app.get("/admin/routes.json");
    assertEquals(status, 500);
    assertNotMatch(text, /secret|article/i);
  }
});

test("hooks get the caller of the document, its middleware's properties, and no weight", async () => {
  const seen: unknown[] = [];
  @rest({
    route: "/looks",
    methods: [one({
      preFetch: (req) => {
        const { method, params, headers, framework } = req;
        seen.push([method, params.id, headers.role, Reflect.get(req, "user"), framework.weight]);
        return true;
      },
    })],
  })
  class Look extends FrameworkModel {}
  await using app = await serveAdmin([Look], {
    prepare: (app) =>
      app.use((req, _res, next) => {
        Reflect.set(req, "user", "ada");
        next();
      }),
  });
  await app.read("staff");
  assertEquals(seen, [["GET", "0".repeat(24), "staff", "ada", 0]]);
});

test("the document of many routes is asked without a warning about listeners", async () => {
  const models = Array.from({ length: 6 }, (_, index) => {
    @rest({ route: `/many${index}`, methods: [all(), one()] })
    class Many extends FrameworkModel {}
    return Object.defineProperty(Many, "name", { value: `Many${index}` });
  });
  const warnings: string[] = [];
  const note = ({ message }: Error) => void warnings.push(message);
  process.on("warning", note);
  try {
    await using app = await serveAdmin(models);
    assertEquals((await app.read("staff")).models.length, 6);
    await new Promise((resolve) => setTimeout(resolve, 50));
  } finally {
    process.off("warning", note);
  }
  assertEquals(warnings, []);
});

class Word extends FrameworkModel {
  @prop()
  word?: string;
}

class Line extends FrameworkModel {
  @prop()
  text?: string;

  @rest({ methods: [all(), create({ preFetch: staffOnly })] })
  @arrayProp({ items: Word, embedded: true })
  words?: Word[];
}

class Sheet extends FrameworkModel {
  @rest({ methods: [all(), one(), update()] })
  @arrayProp({ items: Line, embedded: true })
  lines?: Line[];
}

@rest({ route: "/poems", methods: [all(), one()] })
class Poem extends FrameworkModel {
  @rest({ methods: [all(), one()] })
  @arrayProp({ items: Sheet, embedded: true })
  sheets?: Sheet[];
}

test("the document has the parts of parts, as far as the caller may use them", async () => {
  await using app = await serveAdmin([Poem], { links: { Docs: "../docs" } });
  const namesOf = (parts: readonly PagePart[]): unknown[] =>
    parts.map((part) => [part.property, Object.keys(part.operations), namesOf(part.parts)]);
  const readAs = async (role: string) => namesOf((await app.read(role)).models[0]?.parts ?? []);
  const poem = (words: readonly string[]) => [
    ["sheets", ["all", "one"], [["lines", ["all", "one", "update"], [["words", words, []]]]]],
  ];
  assertEquals(await readAs("staff"), poem(["all", "create"]));
  assertEquals(await readAs("guest"), poem(["all"]));
  assertEquals((await app.read()).links, { Docs: "../docs" });
});

class Cellar extends FrameworkModel {
  @prop()
  depth?: string;
}

@rest({ route: "/castles", methods: [all(), one()] })
@rest({ route: "/lands/:land/castles", methods: [all(), one()] })
class Castle extends FrameworkModel {
  @rest({ methods: [one(), update()] })
  @prop({ type: Cellar })
  cellar?: Cellar;
}

test("the document lacks lists whose path has parameters, and single parts", async () => {
  await using app = await serveAdmin([Castle]);
  const { models } = await app.read();
  assertEquals(models.map(({ path, parts }) => [path, parts]), [["/castles", []]]);
});
