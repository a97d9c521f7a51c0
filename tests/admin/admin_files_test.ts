import { assertEquals } from "@std/assert";
import { all, arrayProp, create, FrameworkModel, one, prop, remove, replace } from "../../mod.ts";
import { rest, StoredFile } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { isGuest, serveAdmin, staffOnly } from "./admin_app.ts";

class Paper extends FrameworkModel {
  @rest({ methods: [one(), replace(), remove({ preFetch: staffOnly })] })
  @prop({ type: StoredFile, maxBytes: 5000 })
  file?: StoredFile;
}

@rest({ route: "/cases", methods: [all(), one(), create()] })
class Case extends FrameworkModel {
  @rest({ methods: [one(), replace({ preFetch: staffOnly }), remove({ preFetch: staffOnly })] })
  @prop({ type: StoredFile, maxBytes: 100, accept: ["image/png", "text/plain"] })
  scan?: StoredFile;

  @rest({ methods: [one(), replace(), remove()] })
  @prop({ type: StoredFile, maxBytes: 200, readonly: isGuest })
  seal?: StoredFile;

  @rest({ methods: [one(), replace()] })
  @prop({ type: StoredFile, maxBytes: 300, hidden: isGuest })
  secret?: StoredFile;

  @rest({ methods: [all(), one(), create()] })
  @arrayProp({ items: Paper, embedded: true })
  papers?: Paper[];
}

test("the document has the files of entities and of parts, as far as the caller may use them", async () => {
  await using app = await serveAdmin([Case]);
  const seenBy = async (role: string) => {
    const { models: [cases] } = await app.read(role);
    return {
      files: cases?.files,
      papers: cases?.parts.map(({ property, files }) => [property, files]),
    };
  };
  const scan = { property: "scan", accept: ["image/png", "text/plain"], maxBytes: 100 };
  const paper = { property: "file", maxBytes: 5000 };
  assertEquals<unknown>(await seenBy("staff"), {
    files: [
      { ...scan, operations: ["one", "replace", "remove"] },
      { property: "seal", operations: ["one", "replace", "remove"], maxBytes: 200 },
      { property: "secret", operations: ["one", "replace"], maxBytes: 300 },
    ],
    papers: [["papers", [{ ...paper, operations: ["one", "replace", "remove"] }]]],
  });
  assertEquals<unknown>(await seenBy("guest"), {
    files: [
      { property: "scan", operations: ["one"] },
      { property: "seal", operations: ["one"] },
    ],
    papers: [["papers", [{ ...paper, operations: ["one", "replace"] }]]],
  });
});

@rest({ route: "/boxes", methods: [all(), one()] })
class Box extends FrameworkModel {
  @rest({ route: "/picture", methods: [one(), replace()] })
  @prop({ type: StoredFile, maxBytes: 100 })
  photo?: StoredFile;

  @rest({ route: "/sheets", methods: [all(), one()] })
  @rest({ route: "/archive", methods: [all(), one(), remove()] })
  @arrayProp({ items: Paper, embedded: true })
  papers?: Paper[];
}

test("the document names parts and files as their paths do, and keeps several routes of a property apart", async () => {
  await using app = await serveAdmin([Box]);
  const { models: [boxes] } = await app.read("staff");
  assertEquals(boxes?.files.map(({ property }) => property), ["picture"]);
  const parts = boxes?.parts.map(({ property, operations }) => [property, Object.keys(operations)]);
  assertEquals(parts?.sort(), [["archive", ["all", "one", "remove"]], ["sheets", ["all", "one"]]]);
});
