import type { AnswerHeader, BytesFacts, HeaderFacts } from "../../pipeline/description.ts";
import type { ErrorCode } from "../../errors/refusals.ts";
import type { FileRules } from "./file_fields.ts";
import { ANY_BYTES } from "./media_type.ts";

const TEXT = { type: "string" } as const;
const BINARY = { type: "string", format: "binary" } as const;

function contentOf({ accept = ["*/*"] }: FileRules): Record<string, object> {
  return Object.fromEntries(accept.map((type) => [type, BINARY]));
}

function header(text: string): HeaderFacts {
  return { text, required: false, schema: TEXT };
}

function answerHeader(description: string): AnswerHeader {
  return { description, schema: TEXT };
}

export function describeGet(rules: FileRules): BytesFacts {
  return {
    answer: { ...contentOf(rules), [ANY_BYTES]: BINARY },
    statuses: {
      206: "The bytes that `Range` asks for",
      416: "The file has none of the bytes that `Range` asks for",
    },
    headers: {
      Range: header(
        "The bytes to send, such as `bytes=0-999`. Several ranges return the whole file.",
      ),
      "If-Range": header(
        "The `ETag` of the file as it was read. If the file has changed, the whole file is sent.",
      ),
    },
    answerHeaders: {
      ETag: answerHeader("The version of the entity, for `If-Match`, and a hash of the file"),
      "Content-Disposition": answerHeader(
        "The name of the file, and whether a browser may show it",
      ),
      "Accept-Ranges": answerHeader("Always `bytes`"),
    },
  };
}

export function describePut(rules: FileRules): BytesFacts {
  const form = { type: "object", properties: { file: BINARY }, required: ["file"] };
  return {
    body: {
      ...Object.fromEntries(
        Object.keys(contentOf(rules)).map((type) => [type, { schema: BINARY }]),
      ),
      "multipart/form-data": {
        schema: form,
        ...rules.accept && { encoding: { file: { contentType: rules.accept.join(", ") } } },
      },
    },
    maxBytes: rules.maxBytes,
    headers: {
      "Content-Disposition": header(
        'The name of the file, such as `attachment; filename="a.png"`.',
      ),
    },
    errors: [...refusalsOf(rules), "PAYLOAD_TOO_LARGE"],
  };
}

export function describeRemove(rules: FileRules): BytesFacts {
  return { headers: {}, errors: refusalsOf(rules) };
}

function refusalsOf({ readonly }: FileRules): readonly ErrorCode[] {
  return typeof readonly === "function" ? ["FORBIDDEN"] : [];
}
