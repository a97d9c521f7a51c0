import type { Schema } from "mongoose";
import { describeModel } from "../../declare/model/describe_model.ts";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import { isHookName, isOperationName } from "../../declare/operations/operation.ts";
import { logHint } from "../../errors/log.ts";
import { topOf } from "../../filter/filters.ts";
import type { ClassFeature, ClassInRoute, TransactionWrite } from "../../pipeline/class_feature.ts";
import { cannotMount } from "../../pipeline/option_reader.ts";
import { actingLevel, type Route } from "../../pipeline/request/route.ts";
import { embeddedClasses } from "../../schema/build_schema.ts";
import { applyRules, CASCADE, UNSET, unsetExpired } from "./apply_rules.ts";
import { checkLast } from "./check_last.ts";
import { type OnDeleteRule, onDeleteRules } from "./on_delete_rules.ts";
import { fieldsReferringTo, type ReferringField, referringFields } from "./referring_fields.ts";
import { isOfRequest } from "./request_write.ts";
import { restoreCascade } from "./restore_cascade.ts";
import { onDeleteSettings, readSettings } from "./settings.ts";
import { mustExist, returnedBy, touchReferred } from "./touch_referred.ts";
import { declaredIndexes } from "../../schema/mongoose/schemas/change_indexes.ts";

/** The rules belong to the class that refers, so every class has this feature. */
export const onDelete: ClassFeature<readonly OnDeleteRule[]> = {
  name: "onDelete",
  declared: onDeleteRules,
  check: ({ value }) => value as readonly OnDeleteRule[],
  settings: ({ cascade }) => readSettings(cascade),
  start: checkRoute,
  indexes: addIndexes,
  statements: {
    areFor: (_config, write) => hasStatements(write),
    classes: (_config, target) => fieldsReferringTo(target).map(({ owner }) => owner),
    async send(_config, write) {
      if (!isOfRequest(write)) return await unsetExpired(write);
      if (write.change === "remove") return await applyRules(write);
      const returned = await returnedBy(write);
      await checkLast(write, {
        send: () => restoreCascade(write, returned),
        check: () => touchReferred(write, new Set(returned.map(({ id }) => id))),
      });
    },
  },
};

const REMOVALS: ReadonlySet<string> = new Set(["remove", "removeAll", CASCADE]);

/**
 * Returns `false` if these rules need no transaction: the write can neither set a reference with `restrict` or
 * `cascade`, nor remove or restore by cascade.
 */
function hasStatements(
  { target, operation }: Pick<TransactionWrite, "target" | "operation">,
): false | readonly string[] {
  const fields = referringFields(target).filter(mustExist).map(({ path }) => topOf(path));
  if (REMOVALS.has(operation)) return fieldsReferringTo(target).length > 0 && fields;
  if (operation === UNSET) return false;
  // Entities in the trash need only `unset`: `restrict` and `cascade` were applied when they came there.
  if (operation === "tidy") {
    return fieldsReferringTo(target).some(({ rule }) => rule === UNSET) && fields;
  }
  const isOfClass = !isOperationName(operation) && !operation.includes(".");
  const mayRestore = isOfClass && fieldsReferringTo(target).some(({ rule }) => rule === "cascade");
  return mayRestore || fields.length > 0 ? fields : false;
}

function checkRoute(
  rules: readonly OnDeleteRule[],
  { target, route }: ClassInRoute,
): void {
  const acting = actingLevel(route);
  if (acting.target === target && acting.traits.change === undefined && !acting.action) {
    const { readers } = onDeleteSettings(route);
    readers.set(target, [...readers.get(target) ?? [], route]);
  }
  const cascading = rules.find(({ rule }) => rule === CASCADE);
  if (cascading !== undefined) {
    const isPart = route.levels.some((level) => embeddedClasses(level.target).includes(target));
    if (isPart) {
      throw cannotMount(
        target,
        `its field "${cascading.name}" is inside of an embedded part, which "cascade" cannot remove`,
      );
    }
    hintAtHooks(target, cascading);
  }
  const fields = referringFields(target);
  for (const each of [...fields, ...fieldsReferringTo(target)]) checkCascade(each, route);
  if (acting.target !== target || acting.hooks.persist === undefined) return;
  const isRemoval = acting.traits.change === "remove";
  const other = isRemoval ? fieldsReferringTo(target)[0] : fields.find(mustExist);
  if (other === undefined) return;
  throw cannotMount(
    target,
    `"onDelete" of "${other.path}" of "${other.owner.name}" does not bind the hook "persist" of ${acting.operation}()`,
  );
}

function checkCascade(
  { owner, path, rule, isForGood, referred }: ReferringField,
  { features }: Route,
): void {
  if (rule !== CASCADE) return;
  const hasTrash = features.removalFieldsOf(owner) !== undefined;
  if (isForGood && hasTrash) {
    throw cannotMount(
      owner,
      `its field "${path}" has the cascade "forGood", but "${owner.name}" has a trash: say "cascade"`,
    );
  }
  if (isForGood || hasTrash || features.removalFieldsOf(referred) === undefined) return;
  throw cannotMount(
    owner,
    `its field "${path}" has the "onDelete" "cascade", and "${referred.name}" has a trash, but "${owner.name}" has ` +
      `none, so a restore would not bring its entities back: give "${owner.name}" the option "trash" too, or say ` +
      `onDelete: "restrict", or onDelete: { cascade: "forGood" }`,
  );
}

const hinted = new WeakSet<ModelClass>();

function hintAtHooks(target: ModelClass, { name }: OnDeleteRule): void {
  const removals = describeModel(target).rests.flatMap(({ methods }) => methods)
    .filter(({ operation }) => operation === "remove" || operation === "removeAll");
  const isHooked = removals.some(({ hooks }) => Object.keys(hooks).some(isHookName));
  if (!isHooked || hinted.has(target)) return;
  hinted.add(target);
  logHint(
    `"${target.name}" has hooks of removals. They do not run if "onDelete" of "${name}" removes an entity.`,
  );
}

/** Without the index, a removal would scan the collection for referring entities. */
function addIndexes(rules: readonly OnDeleteRule[], schema: Schema): void {
  const covered = new Set(
    declaredIndexes(schema).flatMap(([keys, { partialFilterExpression }]) => {
      const [first] = Object.entries(keys);
      const finds = first !== undefined && [1, -1, "hashed"].includes(first[1] as never);
      return finds && partialFilterExpression === undefined ? [first[0]] : [];
    }),
  );
  for (const { name, rule } of rules) {
    if (rule !== "keep" && !covered.has(name)) schema.index({ [name]: 1 });
  }
}
