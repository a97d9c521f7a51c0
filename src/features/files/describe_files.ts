import type { BytesFacts } from "../../pipeline/description.ts";
import type { FileRules } from "./file_fields.ts";
import { ANY_BYTES } from "./media_type.ts";

const BINARY = { type: "string", format: "binary" } as const;

/** Returns the media types of the files of a field, each with its schema. */
function contentOf({ accept = ["*/*"] }: FileRules): Record<string, object> {
  return Object.fromEntries(accept.map((type) => [type, BINARY]));
}

const HEADERS = {
  "Content-Disposition": "The name of the file, and whether a browser may show it",
  "Accept-Ranges": "Always `bytes`",
} as const;

/** Describes the answers of a request that reads a file. */
export function describeGet(rules: FileRules): BytesFacts {
  return {
    answer: { ...contentOf(rules), [ANY_BYTES]: BINARY },
    statuses: { 206: "The part of the file that `Range` asks for" },
    headers: Object.fromEntries(
      Object.entries(HEADERS).map(([name, description]) => [
        name,
        { description, schema: { type: "string" } },
      ]),
    ),
    errors: [],
  };
}

/** Describes the bodies of a request that stores a file. */
export function describePut(rules: FileRules): BytesFacts {
  const form = { type: "object", properties: { file: BINARY }, required: ["file"] };
  return {
    body: { ...contentOf(rules), "multipart/form-data": form },
    errors: ["PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"],
  };
}
