import { badFormat } from "../../errors/refusals.ts";
import type { Filter } from "../filters.ts";
import { compileFilter } from "./compile_filter.ts";
import type { CompileFilterOptions } from "./compile_filter.ts";

/**
 * Reads `q` from the URL of a request. The host's query parser may drop or split `q`, and without a filter `removeAll`
 * deletes everything: so it is not used.
 *
 * @returns The filter, `{}` where there is no `q`.
 * @throws {RestError} 400 if it is malformed or asks for what is not allowed.
 */
export function parseQ(url: string, options: CompileFilterOptions): Filter {
  const text = readParameter(url);
  if (text === undefined) return {};
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw badFormat(`Parameter "q" is not JSON`);
  }
  return compileFilter(parsed, options);
}

function readParameter(url: string): string | undefined {
  const start = url.indexOf("?");
  if (start === -1) return undefined;
  const parameters = new URLSearchParams(url.slice(start + 1));
  for (const name of parameters.keys()) {
    if (name.startsWith("q[") || name.startsWith("[q]")) {
      throw badFormat(`Parameter "${name}" is not allowed: "q" is one JSON object`);
    }
  }
  const [first, ...others] = parameters.getAll("q");
  if (others.length > 0) throw badFormat(`Parameter "q" is given more than once`);
  if (first !== undefined) refuseMalformed(url.slice(start + 1));
  return first;
}

/** `URLSearchParams` decodes leniently, which would turn one filter into another. */
function refuseMalformed(query: string): void {
  try {
    decodeURIComponent(query);
  } catch {
    throw badFormat(`Parameter "q" is not percent-encoded UTF-8`);
  }
}
