import type { Method } from "../../declare/operations/methods.ts";
import { bindingRests } from "../../declare/model/describe_model.ts";
import { operationOf } from "../../declare/operations/action.ts";
import { takesQ } from "../../declare/operations/operation.ts";
import { forAll } from "../../errors/for_all.ts";
import { topOf } from "../../filter/filters.ts";
import { ListedPaths } from "../../filter/q/listed_paths.ts";
import { findReference } from "../../filter/q/referred_path.ts";
import { checkOptionKind, type OptionPlace } from "../../pipeline/option_reader.ts";
import { checkGuards, referredTarget } from "../../pipeline/references.ts";
import type { Route } from "../../pipeline/request/route.ts";
import type { Shape } from "../../schema/fields/shape.ts";

interface FilterPlace extends OptionPlace {
  readonly mode: Route["filterPaths"];
}

/** `undefined` if the filter may name all visible paths. */
export function compileFilterPaths(method: Method, place: FilterPlace): ListedPaths | undefined {
  const { operation, hooks: { filter, q } } = method;
  const { shape, mode, leftOut, fail } = place;
  const isOpen = filter === undefined && mode === undefined && takesQ(operationOf(method));
  if (isOpen && leftOut.length > 0) {
    throw fail(
      `needs a "filter": by q, clients could guess "${leftOut[0]}", which a hook leaves out`,
    );
  }
  if (filter === undefined) {
    if (mode !== undefined && (operation === "updateAll" || q === "required")) {
      throw fail(`needs a "filter": requests need q, which may name listed paths only`);
    }
    return mode && new ListedPaths([], shape);
  }
  if (!takesQ(operationOf(method))) throw fail(`cannot have "filter"`);
  const listed = new ListedPaths(
    checkOptionKind(filter, { kind: "paths", option: "filter", fail }),
    shape,
  );
  const guessed = listed.names.find((path) => leftOut.includes(topOf(path)));
  if (guessed !== undefined) throw fail(`has "${guessed}" in "filter", which a hook leaves out`);
  forAll(filter.filter((name) => !listed.names.includes(name)), (unseen) => {
    throw fail(`has "${unseen}" in "filter", which is no ${kindOfField(unseen, shape)}`);
  });
  checkReferred(listed, place);
  return listed;
}

function kindOfField(path: string, shape: Shape): string {
  const reference = findReference(path, shape)?.reference;
  if (reference === undefined) return "field that clients see";
  const target = referredTarget(reference);
  if (target === undefined) return "field of a known class: name a model class as its reference";
  return `single value of "${target.name}" that clients see`;
}

/** Through a reference, a filter could select by entities that the hooks of the referenced class hide. */
function checkReferred({ referred }: ListedPaths, place: OptionPlace): void {
  forAll(referred, ([name, { reference }]) => {
    const target = referredTarget(reference);
    if (target === undefined) return;
    bindingRests(target);
    checkGuards(reference, {
      ...place,
      target,
      fail: (problem) => place.fail(`has "${name}" in "filter", ${problem}`),
    });
  });
}
