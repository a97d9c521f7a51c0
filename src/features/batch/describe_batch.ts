import type { EndpointDescription } from "../../pipeline/router_feature.ts";
import { HEADERS, ID_PATTERN, METHODS } from "./read_requests.ts";

export function describeBatch(max: number): EndpointDescription {
  return {
    operationId: "batch",
    summary: "Send several requests at once",
    description:
      `Runs up to ${max} requests in order and in one transaction: all of them succeed, or nothing is written. ` +
      `A value { "$result": "a._id" } of a body, or {a._id} as a segment of a path, is the value of the answer to the ` +
      `earlier request "a". If a request fails, the answer is its answer, with its identifier as "failed".`,
    body: {
      type: "object",
      required: ["requests"],
      additionalProperties: false,
      properties: {
        requests: { type: "array", minItems: 1, maxItems: max, items: REQUEST },
      },
    },
    answers: {
      200: {
        description: "The answers of all requests, in order",
        schema: {
          type: "object",
          required: ["responses"],
          properties: { responses: { type: "array", items: RESPONSE } },
        },
      },
      default: {
        description: "The answer of the request that has failed, or an error of the batch",
        schema: {
          type: "object",
          properties: { code: TEXT, message: TEXT, failed: ID },
        },
      },
    },
  };
}

const TEXT = { type: "string" };

const ID = { type: "string", pattern: ID_PATTERN.source };

const REQUEST = {
  type: "object",
  required: ["id", "method", "path"],
  additionalProperties: false,
  properties: {
    id: ID,
    method: { enum: [...METHODS.keys()] },
    path: { type: "string", examples: ["/books/{a._id}"] },
    headers: {
      type: "object",
      additionalProperties: false,
      properties: Object.fromEntries(HEADERS.map((name) => [name, TEXT])),
    },
    body: {},
  },
};

const RESPONSE = {
  type: "object",
  required: ["id", "status", "headers"],
  properties: {
    id: ID,
    status: { type: "integer" },
    headers: { type: "object", additionalProperties: TEXT },
    body: {},
  },
};
