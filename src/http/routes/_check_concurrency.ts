import type { RestRecord } from "../../declare/model/records.ts";
import type { Level } from "../../pipeline/request/route.ts";
import { cannotMount } from "./_check_rest.ts";

/**
 * Checks that clients can say which version they change, and that the framework can hold them to it.
 *
 * @throws {TypeError} If there are no versions, or hooks write.
 */
export function checkConcurrency(
  methods: RestRecord["methods"],
  { target, link, concurrency, versionKey }: Pick<
    Level,
    "target" | "link" | "concurrency" | "versionKey"
  >,
): void {
  if (concurrency === undefined) return;
  const name = `"concurrency"${link === undefined ? "" : ` of property "${link.property}"`}`;
  const fail = (problem: string) => cannotMount(link?.owner ?? target, `${name} ${problem}`);
  if (concurrency !== "required") throw fail(`is not "required"`);
  if (versionKey === undefined) throw fail(`needs versions, and "versionKey" is off`);
  const own = methods.find(({ operation, hooks }) =>
    (operation === "update" || operation === "remove") && hooks.persist !== undefined
  );
  if (own !== undefined) throw fail(`cannot bind the "persist" of ${own.operation}()`);
}
