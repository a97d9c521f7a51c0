import type { ModelClass } from "./model_class.ts";

const registered = new Set<ModelClass>();

/** Adds a class with `@rest`. */
export function registerModel(target: ModelClass): void {
  registered.add(target);
}

/** Gives all classes with `@rest`, in the order of their evaluation. */
export function registeredModels(): ModelClass[] {
  return [...registered];
}
