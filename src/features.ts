import type { OptionName } from "./declare/options.ts";
import { batch } from "./features/batch/batch.ts";
import { count } from "./features/count/count.ts";
import { distinct } from "./features/distinct/distinct.ts";
import { files } from "./features/files/files.ts";
import { formats } from "./features/formats/formats.ts";
import { history } from "./features/history/history.ts";
import { groups } from "./features/groups/groups.ts";
import { idempotency } from "./features/idempotency/idempotency.ts";
import { lines } from "./features/lines/lines.ts";
import { live } from "./features/live/live.ts";
import { many } from "./features/many/many.ts";
import { onDelete } from "./features/on_delete/on_delete.ts";
import { page } from "./features/page/page.ts";
import { populate } from "./features/populate/populate.ts";
import { search } from "./features/search/search.ts";
import { select } from "./features/select/select.ts";
import { sort } from "./features/sort/sort.ts";
import { stamps } from "./features/stamps/stamps.ts";
import { tenants } from "./features/tenants/tenants.ts";
import { trash } from "./features/trash/trash.ts";
import type { ClassFeature } from "./pipeline/class_feature.ts";
import type { AnyFeature } from "./pipeline/feature.ts";
import { FeatureList } from "./pipeline/feature_list.ts";
import type { RouterFeature } from "./pipeline/router_feature.ts";

/**
 * A feature is an ability that an option adds to operations, such as pages. Features run in the order of this list,
 * which does not compile if an option belongs to no feature.
 */
const byName = {
  page,
  sort,
  select,
  search,
  populate,
  count,
  formats,
  live,
  groups,
  distinct,
  many,
  lines,
  idempotency,
} satisfies { readonly [N in FeatureName]: AnyFeature };

/**
 * The features of classes, such as the trash. Their options apply wherever entities of a class are read or written.
 */
const ofClasses: readonly ClassFeature[] = [
  stamps as ClassFeature,
  tenants as ClassFeature,
  trash as ClassFeature,
  history as ClassFeature,
  onDelete as ClassFeature,
  files as ClassFeature,
];

/**
 * The features of routers, such as batches. Their options of `Framework.initialize()` add endpoints that belong to no
 * model.
 */
const ofRouters: readonly RouterFeature[] = [batch as RouterFeature];

export const features = new FeatureList(Object.values(byName), ofClasses, ofRouters);

/**
 * The options of operations that the operation itself reads, such as `by` of `replace()`. Every other option of an
 * operation needs a feature of the same name.
 */
type KernelOption = "atomic" | "fields" | "max" | "q" | "by";

type FeatureName = Exclude<OptionName, KernelOption> | "lines";
