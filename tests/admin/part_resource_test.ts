import { assertEquals } from "@std/assert";
import { partResource, readResource } from "../../admin/part_resource.ts";

Deno.test("the name of the resource of a part leads to the part of its own entity, whatever its identifier", () => {
  for (const id of ["6a5f", "a/b", "other/comments", "50%", "a?b"]) {
    const read = readResource(partResource({ name: "tickets" }, id, "comments"));
    assertEquals(read, { model: "tickets", id: encodeURIComponent(id), property: "comments" });
  }
});
