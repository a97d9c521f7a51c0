import { request, type RequestOptions } from "../../harness/request.ts";

const ID = "0".repeat(24);

const TODO = `{"_id":"${ID}","done":false,"text":"Write the docs","__v":0}`;
const DONE = `{"_id":"${ID}","done":true,"text":"Write the docs","__v":1}`;

/** A request to the README's application, and what it answers. */
type Turn = readonly [request: string, options: RequestOptions, answer: string];

const WHERE = encodeURIComponent('{"$where":"sleep(5000)"}');
const OPEN = encodeURIComponent('{"done":false}');

const TURNS: readonly Turn[] = [
  ["POST /todos", { body: { text: "Write the docs" } }, `201 ${TODO}`],
  ["POST /todos", { body: { text: "Write the docs", _id: "x" } }, '400 "BAD_DATA"'],
  ["POST /todos", { body: { text: 5 } }, '400 "BAD_DATA"'],
  [`GET /todos?q=${OPEN}`, {}, `200 [${TODO}]`],
  ["PATCH /todos/:id", { body: { done: true } }, `200 ${DONE}`],
  ["GET /todos/:id", {}, `200 ${DONE}`],
  [`GET /todos?q=${WHERE}`, {}, '400 "BAD_FORMAT"'],
  ["GET /todos?done=false", {}, '400 "BAD_FORMAT"'],
  ["POST /todos", { body: {} }, '400 "BAD_DATA"'],
  ["POST /todos", { body: { text: "Write the docs", don: true } }, '400 "BAD_DATA"'],
  [
    "POST /todos",
    { raw: "{", headers: { "content-type": "application/json" } },
    '400 "BAD_FORMAT"',
  ],
  ["DELETE /todos/:id", {}, "204 "],
  ["GET /todos/:id", {}, '404 "NOT_FOUND"'],
  ["DELETE /todos", {}, '404 "NOT_FOUND"'],
];

/** What the README's application answers, turn by turn. */
export const ANSWERS: readonly string[] = TURNS.map(([line, , answer]) => `${line} ${answer}`);

/**
 * Speaks with the README's application.
 *
 * @param url Where it listens.
 * @returns The requests and their answers; {@linkcode ANSWERS} if all is well.
 */
export async function converse(url: string): Promise<string[]> {
  const lines: string[] = [];
  let id = "";
  for (const [line, options] of TURNS) {
    const [method = "", path = ""] = line.split(" ");
    const headers = { authorization: "demo", ...options.headers };
    const sent = { ...options, headers, method };
    const reply = await request(`${url}${path.replace(":id", id)}`, sent);
    if (reply.status === 201) id = (reply.body as { _id: string })._id;
    lines.push(`${line} ${reply.status} ${shorten(reply.text)}`);
  }
  return lines;
}

/** Of an error its code, of an entity all but its identifier. */
function shorten(text: string): string {
  const code = /^\{"code":("[A-Z_]+")/.exec(text)?.[1];
  return code ?? text.replaceAll(/[0-9a-f]{24}/g, ID);
}
