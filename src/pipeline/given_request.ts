import { badFormat, badParameter } from "../errors/refusals.ts";
import type { RestError } from "../errors/rest_error.ts";
import type { FrameworkRequest } from "../declare/hooks/framework_request.ts";
import { queryOf } from "../filter/query_string.ts";
import { type BodyLimits, isJsonBody, readElements } from "../write/body/read_body.ts";
import { preferencesOf } from "./request/preferences.ts";
import type { Description } from "./description.ts";

export type ParameterForms = ReadonlyMap<string, "one" | "list">;

export function notAllowed(parameter: string): RestError {
  return badFormat(`Parameter "${parameter}" is not allowed`, { parameter });
}

/** The values of a repeated list parameter are joined by commas. */
export type GivenParameters = ReadonlyMap<string, string>;

const NONE: GivenParameters = new Map();

/** A parameter without its feature would have no effect, so it is refused unless a hook reads it. */
export function readParameters(
  url: string,
  { owned, isDeclared, ofHooks }: {
    readonly owned: ParameterForms;
    readonly isDeclared: (name: string) => boolean;
    readonly ofHooks: readonly string[];
  },
): GivenParameters {
  const query = queryOf(url);
  if (query === "") return NONE;
  const given = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    const [parameter = name] = name.split("[", 1);
    const form = owned.get(parameter);
    if (form === undefined) continue;
    if (!isDeclared(parameter)) {
      if (ofHooks.includes(parameter)) continue;
      throw notAllowed(parameter);
    }
    const before = given.get(parameter);
    if (name !== parameter || before !== undefined && form === "one") {
      throw badParameter(parameter, form === "list" ? "fields separated by commas" : "one value");
    }
    given.set(parameter, before === undefined ? value : `${before},${value}`);
  }
  refuseMalformed(query, given);
  return given;
}

/** `URLSearchParams` would replace malformed bytes, and change the value. */
function refuseMalformed(query: string, given: GivenParameters): void {
  for (const piece of query.split("&")) {
    try {
      decodeURIComponent(piece);
    } catch {
      const [name = ""] = new URLSearchParams(piece).keys();
      if (given.has(name)) throw badParameter(name, "percent-encoded UTF-8");
    }
  }
}

export class GivenRequest<C = unknown> {
  readonly #req: FrameworkRequest;
  readonly #given: GivenParameters;
  readonly #description: Description;
  readonly #bodyLimits: Required<BodyLimits>;
  /** The media types of the answer, preferred first. */
  readonly offered: readonly string[];
  readonly captured: C;

  constructor(
    req: FrameworkRequest,
    { given, description, offered, captured, bodyLimits }: {
      readonly given: GivenParameters;
      readonly description: Description;
      readonly offered: readonly string[];
      readonly captured: C;
      readonly bodyLimits: Required<BodyLimits>;
    },
  ) {
    this.captured = captured;
    this.#bodyLimits = bodyLimits;
    this.#req = req;
    this.#given = given;
    this.#description = description;
    this.offered = offered;
  }

  get method(): string {
    return this.#req.method;
  }

  get accept(): string | undefined {
    return this.#req.headers.accept;
  }

  parameter(name: string): string | undefined {
    this.#check("parameters", name);
    return this.#given.get(name);
  }

  header(name: string): string | undefined {
    this.#check("headers", name);
    const value = this.#req.headers[name.toLowerCase()];
    return value === undefined ? undefined : String(value);
  }

  isRepeated(name: string): boolean {
    this.#check("headers", name);
    return (this.#req.headersDistinct[name.toLowerCase()] ?? []).length > 1;
  }

  prefers(preference: string): boolean {
    this.#check("preferences", preference);
    const [name = "", value] = preference.split("=");
    return preferencesOf(this.#req).get(name)?.toLowerCase() === value;
  }

  get hasArray(): boolean {
    if (this.#description.body?.maxItems === undefined) throw unlisted("body", "an array");
    return Array.isArray(this.#req.body) && isJsonBody(this.#req);
  }

  elements(): readonly unknown[] {
    const most = this.#description.body?.maxItems;
    if (most === undefined) throw unlisted("body", "an array");
    return readElements(this.#req, { ...this.#bodyLimits, most });
  }

  hasType(type: string): boolean {
    if (this.#description.body?.content?.[type] === undefined) throw unlisted("body", type);
    return Boolean(this.#req.is(type));
  }

  names(parameter: string, allowed: readonly string[]): string[] {
    const names = this.parameter(parameter)?.split(",") ?? [];
    if (names.every((name) => allowed.includes(name))) return [...new Set(names)];
    throw badParameter(parameter, `fields out of ${allowed.join(", ")}`);
  }

  wholeNumber(
    parameter: string,
    { from, to, missing }: { readonly from: number; readonly to: number; readonly missing: number },
  ): number {
    const text = this.parameter(parameter);
    if (text === undefined) return missing;
    const count = Number(text);
    if (/^\d{1,10}$/.test(text) && count >= from && count <= to) return count;
    throw badParameter(parameter, `a whole number from ${from} to ${to}`);
  }

  #check(kind: "parameters" | "headers" | "preferences", name: string): void {
    // A parameter of hidden fields is not described. Reading it is still no mistake of the feature, because requests
    // that send it were refused before.
    if (kind === "parameters" && !this.#given.has(name)) return;
    if (Object.hasOwn(this.#description[kind] ?? {}, name)) return;
    throw unlisted(kind, name);
  }
}

function unlisted(kind: string, name: string): TypeError {
  return new TypeError(`Cannot read "${name}": the feature does not list it among its ${kind}`);
}
