/** Express on the bare driver. @module */
import { openDriver } from "./support/driver_crud.ts";
import { serveGroups } from "./support/driver_groups.ts";
import { serveCrud } from "./support/serve_crud.ts";

await serveCrud(await openDriver(), "lean-hook", { groups: serveGroups });
