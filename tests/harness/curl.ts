import { type Reply, request } from "./request.ts";

/** A request, as a curl line tells it. */
export interface CurlRequest {
  /** The HTTP method. */
  readonly method: string;
  /** The URL, query string included. */
  readonly url: string;
  /** The headers. */
  readonly headers: Record<string, string>;
  /** The body. */
  readonly raw?: string;
  /** The file with cookies to send. */
  readonly jar?: string;
}

const JSON_TYPE = "application/json";

/**
 * Reads a curl line, as far as our documentation uses its options: `-s`, `-i`, `-b`, `-G`, `-X`, `-H`, `-d`,
 * `--data-urlencode` and `--json`.
 *
 * @param line The line.
 * @returns The request.
 * @throws {TypeError} If there is another option in it.
 */
export function readCurl(line: string): CurlRequest {
  const [name, ...words] = splitWords(line);
  if (name !== "curl") throw new TypeError(`Cannot read "${line}": it does not start with curl`);
  const headers: Record<string, string> = {};
  const data: string[] = [];
  let method: string | undefined;
  let url = "";
  let jar: string | undefined;
  let isGet = false;
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === "-G") isGet = true;
    else if (word === "-X") method = take(words);
    else if (word === "-b") jar = take(words);
    else if (word === "-H") Object.assign(headers, readHeader(take(words)));
    else if (word === "-d") data.push(take(words));
    else if (word === "--data-urlencode") data.push(encodePair(take(words)));
    else if (word === "--json") {
      Object.assign(headers, { "content-type": JSON_TYPE, accept: JSON_TYPE });
      data.push(take(words));
    } else if (word !== "-s" && word !== "-i") {
      if (word.startsWith("-")) throw new TypeError(`Cannot read "${line}": option ${word}`);
      url = word;
    }
  }
  const text = data.join("&");
  const cookies = jar === undefined ? {} : { jar };
  if (isGet) return { method: method ?? "GET", url: `${url}?${text}`, headers, ...cookies };
  if (data.length === 0) return { method: method ?? "GET", url, headers, ...cookies };
  return { method: method ?? "POST", url, headers, raw: text, ...cookies };
}

/**
 * Sends what a curl line tells, without curl.
 *
 * @param line The line.
 * @param jars The cookies in each file that lines name.
 */
export function sendCurl(
  line: string,
  jars: ReadonlyMap<string, string> = new Map(),
): Promise<Reply> {
  const { url, jar, headers, ...options } = readCurl(line);
  const cookie = jar === undefined ? undefined : jars.get(jar);
  return request(url, {
    ...options,
    headers: { ...headers, ...cookie !== undefined && { cookie } },
  });
}

/**
 * Runs a curl line in a shell.
 *
 * @param line The line.
 * @returns What it prints, `undefined` where there is no shell or no curl.
 */
export async function runCurl(line: string): Promise<string | undefined> {
  // Tests may run Deno and nothing else, so that another Deno runs the shell
  const script = `const args = ["-c", "command -v curl >/dev/null || exit 127; " + Deno.args[0]];
    const shell = new Deno.Command("sh", { args, stdout: "inherit", stderr: "inherit" });
    const run = async () => (await shell.output()).code;
    Deno.exit(await run().catch(() => 127));`;
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--quiet", script, line.replace(/^curl /, "curl -sS ")],
  }).output();
  if (code === 127) return undefined;
  if (code !== 0) throw new Error(`Cannot run "${line}": ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}

/** Splits a line as a shell does: at blanks, single quotes keep what is in them, but for `$'\\n'`. */
function splitWords(given: string): string[] {
  const line = given.replaceAll(/\$('[^']*')/g, (_, text) => text.replaceAll("\\n", "\n"));
  const words = line.match(/(?:'[^']*'|\\.|[^\s'\\])+/g) ?? [];
  return words.map((word) =>
    word.replaceAll(/'([^']*)'|\\(.)/g, (_, quoted, escaped) => quoted ?? escaped)
  );
}

function take(words: string[]): string {
  const word = words.shift();
  if (word === undefined) throw new TypeError("Cannot read a curl line: it ends too early");
  return word;
}

function readHeader(text: string): Record<string, string> {
  const at = text.indexOf(":");
  return { [text.slice(0, at)]: text.slice(at + 1).trim() };
}

function encodePair(text: string): string {
  const at = text.indexOf("=");
  return `${text.slice(0, at)}=${encodeURIComponent(text.slice(at + 1))}`;
}
