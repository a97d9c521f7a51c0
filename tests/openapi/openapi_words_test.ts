import { assert, assertEquals } from "@std/assert";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  one,
  prop,
  type Ref,
  remove,
  removeAll,
  replace,
  rest,
  StoredFile,
  update,
  updateAll,
} from "../../mod.ts";
import { documentOf } from "../support/documented.ts";
import { test } from "../harness/testing.ts";

const FILE = [one(), replace(), remove()];

class Attachment extends FrameworkModel {
  @rest({ methods: FILE })
  @prop({ type: StoredFile, maxBytes: 100 })
  scan?: StoredFile;
}

@rest({
  route: "/films",
  history: true,
  trash: { see: () => true },
  methods: [
    all({
      page: { max: 10 },
      sort: ["name"],
      search: ["name"],
      select: ["name"],
      groups: { by: [{ at: "month" }], sum: ["price"], avg: ["price"], timeZone: ["UTC", "CET"] },
      distinct: ["name"],
      populate: { sequel: true },
      count: true,
      live: true,
    }),
    one(),
    create({ many: 5, idempotency: { keep: "1h", caller: () => "all" } }),
    update(),
    updateAll({ fields: ["price"], max: 10 }),
    replace({ by: "name" }),
    remove(),
    removeAll({ max: 10 }),
  ],
})
class Film extends FrameworkModel {
  @prop({ required: true, unique: true })
  name!: string;

  @prop({ type: Number })
  price?: number;

  @prop({ type: Date })
  at?: Date;

  @prop({ ref: () => Film })
  sequel?: Ref<Film>;

  @rest({ methods: FILE })
  @prop({ type: StoredFile, maxBytes: 100, accept: ["image/*"] })
  poster?: StoredFile;

  @rest({ methods: [all({ page: false }), one()] })
  @arrayProp({ items: Attachment, embedded: true })
  attachments!: Attachment[];
}

test("Descriptions of parameters and headers are sentences", async () => {
  const { document } = await documentOf([Film]);
  const parameters = Object.values(document.paths).flatMap((item) => Object.values(item))
    .flatMap(({ parameters = [] }) => parameters);
  const described = new Map(
    parameters.map(({ name, description = "" }) => [`${name}: ${description}`, description]),
  );
  const wrong = [...described].filter(([, text]) => !/^[A-Z`].*\w.*\.$/s.test(text));
  assertEquals(wrong.map(([text]) => text), []);
  const names = new Set(parameters.map(({ name }) => name));
  assert(names.size > 20, [...names].join());
});

test("Files stand under the class that has them", async () => {
  const { document } = await documentOf([Film]);
  const tagsOf = (path: string) =>
    Object.values(document.paths[path] ?? {}).map(({ tags }) => tags.join());
  assertEquals(tagsOf("/films/{id}/poster"), ["Film", "Film", "Film"]);
  assertEquals(
    tagsOf("/films/{id}/attachments/{subId}/scan"),
    ["Attachment", "Attachment", "Attachment"],
  );
  const { tags } = document as unknown as { tags: { name: string; description: string }[] };
  assertEquals(tags, [
    { name: "Film", description: "At `/films`, `/films/{id}/poster`" },
    {
      name: "Attachment",
      description: "At `/films/{id}/attachments`, `/films/{id}/attachments/{subId}/scan`",
    },
  ]);
});

test("The document leaves the address of its server to the page that shows it", async () => {
  const { document } = await documentOf([Film]);
  assertEquals(document.servers, [{ url: "." }]);
});
