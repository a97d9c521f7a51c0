// Runs alone: names of models depend on those of other classes.
import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  getModel,
  type ModelClass,
  one,
  prop,
  rest,
  update,
} from "../../mod.ts";
import { Named } from "../fixtures/named.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

type Json = Record<string, unknown>;

@rest({ route: "/comments", methods: [all(), one(), create(), update()] })
class Comment extends FrameworkModel {
  @arrayProp({ items: () => Comment, embedded: true })
  replies?: Comment[];
  @prop({ type: () => Comment })
  first?: Comment;
  @prop({ required: true })
  text!: string;
  @prop({ hidden: true })
  mail?: string;
  shout(): string {
    return `${this.text}!`;
  }
}

test("prop() and arrayProp() let a model embed itself", async () => {
  await using app = await mount([Comment]);
  const leaf = { text: "c", mail: "s1" };
  const body = { text: "a", replies: [{ text: "b", replies: [leaf] }], first: leaf, mail: "s1" };
  const reply = await app.post<Json>("/comments", body);
  assertEquals([reply.status, reply.text.includes("s1")], [201, false]);
  const [read] = await app.read<{ replies: [{ replies: [Json] }]; first: Json }[]>("/comments");
  assertEquals(read?.replies[0].replies[0].text, "c");
  assertEquals([read?.first.text, read?.first.replies], ["c", []]);
  const bad = await app.post<{ errors: Json }>("/comments", {
    text: "a",
    replies: [{ text: "b", replies: [{}] }],
  });
  assertEquals(Object.keys(bad.body.errors), ["replies.0.replies.0.text"]);
});

test("FrameworkModel gives embedded documents the fields and members of their class", () => {
  const CommentModel = getModel(Comment);
  const doc = new CommentModel({ text: "a", replies: [{ text: "b", replies: [{ text: "c" }] }] });
  const [reply] = doc.replies as unknown as [Comment];
  const [leaf] = reply.replies as unknown as [Comment];
  assertEquals([reply.text, leaf.text], ["b", "c"]);
  assertEquals([reply.shout(), leaf.shout()], ["b!", "c!"]);
  leaf.text = "d";
});

class Owner extends Named {}

class Folder extends FrameworkModel {
  @arrayProp({ items: () => Page, embedded: true })
  pages?: Page[];
  @prop({ required: true })
  title!: string;
  @prop({ ref: () => Owner })
  owner?: string;
  get line(): string {
    return `<${this.title}>`;
  }
}
class Page extends FrameworkModel {
  @prop({ type: () => Folder })
  folder?: Folder;
  @arrayProp({ items: () => Folder, embedded: true })
  folders?: Folder[];
  @prop({ required: true })
  text!: string;
  shout(): string {
    return `${this.text}!`;
  }
}

test("arrayProp() lets two models embed each other", async () => {
  for (const target of [Folder, Page]) {
    const connection = mongoose.createConnection();
    getModel<ModelClass>(target, connection);
    assert(connection.modelNames().includes("Owner"), target.name);
  }
  const FolderModel = getModel(Folder, mongoose.createConnection());
  const inner = { title: "b", pages: [{ text: "c" }] };
  const doc = new FolderModel({
    title: "a",
    pages: [{ text: "p", folder: inner, folders: [inner] }],
  });
  const page = (doc.pages as Page[])[0] as Page;
  const again = page.folders?.[0] as Folder;
  assertEquals([page.shout(), page.folder?.line, again.line], ["p!", "<b>", "<b>"]);
  assertEquals([again.title, again.pages?.[0]?.shout(), again.pages?.[0]?.text], ["b", "c!", "c"]);
  again.title = "d";
  assertEquals(JSON.parse(JSON.stringify(doc)).pages[0].folders[0].title, "d");
  await doc.validate();
});
