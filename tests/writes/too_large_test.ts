import { assertEquals } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import { arrayProp, create, FrameworkModel, getModel, one, prop, rest, update } from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import { test } from "../harness/testing.ts";
import { type ErrorBody, mount } from "../support/support.ts";

const MB = 1024 * 1024;

class Page extends FrameworkModel {
  @prop()
  text?: string;
}

@rest({ route: "/books", methods: [one(), create(), update()] })
@rest({ route: "/hooked", methods: [create({ preSend: pass }), update({ preSend: pass })] })
class Book extends FrameworkModel {
  @prop()
  text?: string;
  @prop()
  notes?: string;
  @rest({ methods: [create()] })
  @arrayProp({ items: Page, embedded: true })
  pages?: Page[];
}

test("an entity that would be too large for the database is a 413, and stays as it was", async () => {
  const told: unknown[] = [];
  await using app = await mount([Book], {
    prepare: (host) => host.use(express.json({ limit: 60 * MB })),
    onError: (_req, error) => void told.push(error),
  });
  const { _id } = await app.created("/books", { text: "a".repeat(9 * MB) });
  const rest = "b".repeat(9 * MB);
  for (
    const [method, path, body] of [
      ["POST", "/books", { text: "a".repeat(18 * MB) }],
      ["POST", "/hooked", { text: "a".repeat(16 * MB) }],
      ["PATCH", `/books/${_id}`, { notes: rest }],
      ["PATCH", `/hooked/${_id}`, { notes: rest }],
      ["POST", `/books/${_id}/pages`, { text: rest }],
    ] as const
  ) {
    const { status, body: answer } = await app.send<ErrorBody>(method, path, { body });
    assertEquals([path, status, answer.code], [path, 413, "PAYLOAD_TOO_LARGE"]);
  }
  assertEquals(told, []);
  assertEquals(await getModel(Book).countDocuments({ notes: null, pages: { $size: 0 } }), 1);
});
