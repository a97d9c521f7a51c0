import { type Reply, request } from "./request.ts";

export interface CurlRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly raw?: string;
  readonly jar?: string;
}

const JSON_TYPE = "application/json";

/** Reads a curl line with the options that the documentation uses. */
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

/** Returns `undefined` where there is no shell or no curl. */
export async function runCurl(line: string): Promise<string | undefined> {
  // Tests may only run Deno, so another Deno runs the shell.
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
