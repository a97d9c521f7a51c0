import type { OptionName } from "./declare/options.ts";
import { count } from "./features/count/count.ts";
import { distinct } from "./features/distinct/distinct.ts";
import { formats } from "./features/formats/formats.ts";
import { groups } from "./features/groups/groups.ts";
import { idempotency } from "./features/idempotency/idempotency.ts";
import { lines } from "./features/lines/lines.ts";
import { live } from "./features/live/live.ts";
import { many } from "./features/many/many.ts";
import { page } from "./features/page/page.ts";
import { populate } from "./features/populate/populate.ts";
import { search } from "./features/search/search.ts";
import { select } from "./features/select/select.ts";
import { sort } from "./features/sort/sort.ts";
import type { AnyFeature } from "./pipeline/feature.ts";
import { FeatureList } from "./pipeline/feature_list.ts";

/**
 * All features, by name. The phases of a request run in this order, and descriptions list parameters in this order. The
 * type refuses the list if an option has no feature.
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

export const features = new FeatureList(Object.values(byName));

/** The options that the kernel reads by itself, because they belong to the operations that change many entities. */
type KernelOption = "atomic" | "fields" | "max" | "q" | "by";

type FeatureName = Exclude<OptionName, KernelOption> | "lines";
