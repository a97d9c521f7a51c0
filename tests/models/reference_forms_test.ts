// Runs alone: names of models depend on those of other classes.
import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { DECORATED } from "../fixtures/reference/decorated.ts";
import { DEFINED } from "../fixtures/reference/defined.ts";
import { connections, SECRET_KEY } from "../fixtures/reference/hooks.ts";
import { withDatabase } from "../harness/database_uri.ts";
import { test } from "../harness/testing.ts";
import { namesAt } from "../support/names.ts";
import { asQuery, mount } from "../support/support.ts";

const FORMS = [["decorators", DECORATED], ["define()", DEFINED]] as const;

for (const [form, models] of FORMS) {
  test(`movies and actors refer to each other, declared by ${form}`, async () => {
    await using app = await mount(models);
    const actor = await app.created("/actors", { name: "Ada" });
    assertEquals(Object.keys(actor).sort(), ["__v", "_id", "movies", "name"]);
    assertEquals(actor.movies, []);
    const fields = { name: "Up", description: "d", actors: [actor._id] };
    const movie = await app.created("/movies", fields);
    assertEquals(movie, { ...fields, _id: movie._id, __v: 0 });
    assertEquals(await app.read(`/movies/${movie._id}`), movie);
    await app.created("/movies", { name: "Down", description: "e" });
    assertEquals(await namesAt(`${app.url}/movies${asQuery({ name: "Down" })}`), "Down");
    const { status, body } = await app.post("/movies", { name: "No description" });
    assertEquals([status, Object.keys(body.errors as object)], [400, ["description"]]);
    for (const method of ["PATCH", "DELETE"]) {
      assertEquals((await app.send(method, `/movies/${movie._id}`, { body: {} })).status, 404);
    }
  });

  test(`secured operations need the key, declared by ${form}`, async () => {
    await using app = await mount(models);
    const headers = { authorization: SECRET_KEY };
    const made = await app.created("/secured", { name: "a" }, { headers });
    assert(typeof made.createdAt === "string");
    const path = `/secured/${made._id}`;
    for (const given of [{}, { authorization: "wrong" }]) {
      for (const [method, at] of [["POST", "/secured"], ["PATCH", path], ["DELETE", path]]) {
        const { status, body } = await app.send(String(method), at, { body: {}, headers: given });
        assertEquals([status, body], [401, { code: "UNAUTHENTICATED" }]);
      }
    }
    assertEquals([await app.read("/secured"), await app.read(path)], [[made], made] as never);
    assertEquals((await app.updated(path, { name: "b" }, { headers })).name, "b");
    assertEquals((await app.delete(path, { headers })).status, 204);
  });

  test(`a hook gives pages of 20, declared by ${form}`, async () => {
    await using app = await mount(models);
    for (let index = 0; index < 25; index++) await app.created("/paged", { name: `${index}` });
    const sizes = [];
    for (const page of ["", "?page=0", "?page=1", "?page=2"]) {
      sizes.push((await app.read<unknown[]>(`/paged${page}`)).length);
    }
    assertEquals(sizes, [20, 20, 5, 0]);
  });

  test(`each request has its database, declared by ${form}`, async () => {
    await using app = await mount(models);
    const names = ["a", "b"];
    for (const name of names) {
      const uri = withDatabase(app.database.uri, `${app.database.name}_${name}`);
      connections.set(name, await mongoose.createConnection(uri).asPromise());
    }
    const at = (name: string) => ({ headers: { "x-database": name } });
    for (const name of names) await app.created("/tenants", { name: `of ${name}` }, at(name));
    for (const name of names) {
      const list = await app.read<{ name: string }[]>("/tenants", at(name));
      assertEquals(list.map((each) => each.name), [`of ${name}`]);
    }
    assertEquals((await app.get("/tenants", at("c"))).status, 400);
    for (const connection of connections.values()) {
      await connection.dropDatabase();
      await connection.close();
    }
  });
}
