import { assertEquals } from "@std/assert";
import type { FetchFunction } from "@mongrove/mongrove/client";
import type { ModelClass } from "../../../mod.ts";
import { documentOf } from "./document.ts";
import { Holder } from "./hold_exchange.ts";

/** A `fetch()` that remembers what it sends and gets. */
export interface HeldFetch {
  /** It. */
  readonly fetch: FetchFunction;
  /** Holds all of it against the document, and fails if something is not as the document says. */
  readonly check: () => void;
}

/**
 * Makes a `fetch()` whose requests and answers are held against the OpenAPI document of models.
 *
 * @param models The models.
 * @param inner What sends.
 */
export async function heldFetch(
  models: readonly ModelClass[],
  inner: FetchFunction,
): Promise<HeldFetch> {
  const holder = new Holder(await documentOf(models));
  const problems: string[] = [];
  return {
    async fetch(text, init) {
      const response = await inner(text, init);
      const url = new URL(text);
      url.pathname = url.pathname.replace(/^\/api/, "");
      problems.push(...holder.hold({
        ...{ method: init.method ?? "", url, body: init.body as string | undefined },
        ...{ sent: new Headers(init.headers), status: response.status },
        ...{ received: response.headers, text: await response.clone().text() },
      }));
      return response;
    },
    check: () => assertEquals(problems, []),
  };
}
