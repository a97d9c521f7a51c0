/** Express on the bare driver. @module */
import { openDriver } from "./support/driver_crud.ts";
import { serveCrud } from "./support/serve_crud.ts";

serveCrud(await openDriver(), "lean-hook");
