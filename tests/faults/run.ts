/**
 * The task `faults`: ends, hangs and unseats members of a replica set under the requests of many clients, and compares
 * what the clients were told with what is stored. `--long` runs more rounds with more clients.
 *
 * @module
 */
import { runReported, runTask } from "../harness/tasks/test_folder.ts";

await runTask((args) => runReported("faults", { args }));
