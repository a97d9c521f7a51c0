import { count } from "./features/count/count.ts";
import { formats } from "./features/formats/formats.ts";
import { groups } from "./features/groups/groups.ts";
import { live } from "./features/live/live.ts";
import { page } from "./features/page/page.ts";
import { populate } from "./features/populate/populate.ts";
import { search } from "./features/search/search.ts";
import { select } from "./features/select/select.ts";
import { sort } from "./features/sort/sort.ts";
import { FeatureList } from "./pipeline/operation_options.ts";

/** All features. The phases of a request run in this order, and descriptions list parameters in this order. */
export const features = new FeatureList([
  page,
  sort,
  select,
  search,
  populate,
  count,
  formats,
  live,
  groups,
]);
