import { assertEquals } from "@std/assert";
import { partResource, readResource } from "../../admin/part_resource.ts";

Deno.test("the name of the resource of a part leads to the part of its own entity, whatever its identifier", () => {
  for (const id of ["6a5f", "a/b", "other/comments", "50%", "a?b"]) {
    const comments = partResource("tickets", id, "comments");
    const below = `/${encodeURIComponent(id)}/comments`;
    assertEquals(readResource(comments), { model: "tickets", below, properties: ["comments"] });
    const replies = readResource(partResource(comments, id, "replies"));
    assertEquals(replies.properties, ["comments", "replies"]);
    assertEquals(replies.below, `${below}/${encodeURIComponent(id)}/replies`);
  }
});
