import type { ModelClass } from "../../declare/model/model_class.ts";
import type { Route } from "../../pipeline/request/route.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import { collectionName } from "../../schema/model_name.ts";
import { cannotMount } from "./_check_rest.ts";
import { PATH_PARAMETER } from "./describe/path_parameters.ts";

/** What is taken already: paths with their verbs, and collections with the names of their classes. */
export class RouteRegister {
  readonly #paths = new Map<string, ModelClass>();
  readonly #collections = new Map<string, ModelClass>();

  /** Takes a path for an operation. Express ignores case, if not told otherwise, and the names of parameters. */
  claimPath(target: ModelClass, { path, operation }: Route): void {
    const key = `${operation.verb} ${path.replaceAll(PATH_PARAMETER, ":").toLowerCase()}`;
    const holder = this.#paths.get(key);
    if (holder !== undefined) {
      const taken = `${operation.verb.toUpperCase()} ${path} is taken by "${holder.name}"`;
      throw cannotMount(target, `${taken}${reloadHint(target, holder)}`);
    }
    this.#paths.set(key, target);
  }

  /** Takes a collection: two classes may have one name, but not one collection. */
  claimCollection(target: ModelClass): void {
    const collection = collectionName(target, buildSchema(target).schema);
    const key = `${target.name} ${collection}`;
    const holder = this.#collections.get(key);
    if (holder !== undefined && holder !== target) {
      const kept =
        `another class "${holder.name}" keeps its entities in collection "${collection}" too`;
      throw cannotMount(target, `${kept}${reloadHint(target, holder)}`);
    }
    this.#collections.set(key, target);
  }
}

/** What helps where a class meets itself: a module that was evaluated again makes a second class. */
function reloadHint(target: ModelClass, holder: ModelClass): string {
  if (target === holder || target.name !== holder.name) return "";
  return `; if its module was evaluated twice, as after vi.resetModules(), call initialize({ models: [${target.name}] })`;
}
