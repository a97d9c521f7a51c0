import type { AnswerHeader, BytesFacts, HeaderFacts } from "../../pipeline/description.ts";
import type { ErrorCode } from "../../errors/refusals.ts";
import type { FileConfig } from "./file_fields.ts";
import { ANY_BYTES } from "./media_type.ts";

const TEXT = { type: "string" } as const;
const BINARY = { type: "string", format: "binary" } as const;

function contentOf({ accept = ["*/*"] }: FileConfig): Record<string, object> {
  return Object.fromEntries(accept.map((type) => [type, BINARY]));
}

function header(text: string): HeaderFacts {
  return { text, required: false, schema: TEXT };
}

function answerHeader(description: string): AnswerHeader {
  return { description, schema: TEXT };
}

export function describeGet(config: FileConfig): BytesFacts {
  return {
    answer: { ...contentOf(config), [ANY_BYTES]: BINARY },
    statuses: {
      206: "The bytes that `Range` asks for",
    },
    errors: ["RANGE_NOT_SATISFIABLE"],
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

export function describePut(config: FileConfig): BytesFacts {
  const form = { type: "object", properties: { file: BINARY }, required: ["file"] };
  return {
    body: {
      ...Object.fromEntries(
        Object.keys(contentOf(config)).map((type) => [type, { schema: BINARY }]),
      ),
      "multipart/form-data": {
        schema: form,
        ...config.accept && { encoding: { file: { contentType: config.accept.join(", ") } } },
      },
    },
    maxBytes: config.maxBytes,
    headers: {
      "Content-Disposition": header(
        'The name of the file, such as `attachment; filename="a.png"`.',
      ),
    },
    errors: [...refusalsOf(config), "PAYLOAD_TOO_LARGE"],
  };
}

export function describeRemove(config: FileConfig): BytesFacts {
  return { headers: {}, errors: refusalsOf(config) };
}

function refusalsOf({ readonly }: FileConfig): readonly ErrorCode[] {
  return typeof readonly === "function" ? ["FORBIDDEN"] : [];
}
