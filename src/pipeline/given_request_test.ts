import { assertEquals, assertThrows } from "@std/assert";
import type { FrameworkRequest } from "../declare/hooks/framework_request.ts";
import { completeBodyLimits } from "../write/body/read_body.ts";
import type { Description } from "./description.ts";
import { GivenRequest } from "./given_request.ts";

const LINES = "application/x-ndjson";

/** Makes the part of a request with an array as body that a feature with a description can read. */
function given(description: Description): GivenRequest<undefined> {
  const req = {
    body: [{}, {}],
    headers: { "content-type": "application/json", "content-length": "7", "a-key": "k" },
    headersDistinct: { "a-key": ["k", "k"] },
    is: () => false,
  } as unknown as FrameworkRequest;
  const others = { given: new Map(), offered: [], captured: undefined };
  return new GivenRequest(req, { ...others, description, bodyLimits: completeBodyLimits() });
}

Deno.test("a feature reads only the bodies and the headers that it describes", () => {
  const header = { text: "", required: false, schema: {} };
  const all = given({
    headers: { "A-Key": header },
    body: { maxItems: 2, content: { [LINES]: {} } },
  });
  assertEquals([all.hasArray, all.elements(), all.hasType(LINES)], [true, [{}, {}], false]);
  assertEquals([all.header("A-Key"), all.isRepeated("A-Key")], ["k", true]);
  const none = given({});
  const reads = [
    () => none.hasArray,
    () => none.elements(),
    () => none.hasType(LINES),
    () => none.header("A-Key"),
    () => none.isRepeated("A-Key"),
  ];
  for (const read of reads) assertThrows(read, TypeError, "the feature does not list it among its");
});
