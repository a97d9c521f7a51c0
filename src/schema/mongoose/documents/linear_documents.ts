import mongoose from "mongoose";
import type { Document, Schema } from "mongoose";

type Inner = Document & {
  readonly "$__": {
    readonly activePaths?: { readonly states?: { readonly modify?: object | null } };
    readonly validationError?: JoinedError | null;
  };
};

interface JoinedError extends Error {
  readonly errors: Record<string, Error>;
  readonly _message?: string;
  addError(path: string, problem: Error): void;
}

type Method = (...args: readonly unknown[]) => unknown;

/** Methods of documents that do what Mongoose's do, at a cost that does not grow with what else has changed. */
const METHODS: Readonly<Record<string, Method>> = { $isModified, invalidate };

const OWN: ReadonlySet<unknown> = new Set(Object.values(METHODS));

/** Whether a method of a schema does what Mongoose's does. */
export function isLinearMethod(method: unknown): boolean {
  return OWN.has(method);
}

/** Gives the documents of a schema methods that compare no change, and no problem, with all others. */
export function addLinearMethods(schema: Schema): void {
  for (const [name, method] of Object.entries(METHODS)) {
    if (schema.methods[name] === undefined) {
      schema.method(name, method as never, { suppressWarning: true });
    }
  }
}

/** Finds the method that ours replaces. */
function mongooseMethod(doc: object, name: string): Method {
  let prototype: object | null = Object.getPrototypeOf(doc);
  while (prototype !== null) {
    const found = Object.getOwnPropertyDescriptor(prototype, name)?.value;
    if (typeof found === "function" && !OWN.has(found)) return found as Method;
    prototype = Object.getPrototypeOf(prototype);
  }
  throw new TypeError(`Cannot find the method "${name}" of Mongoose's documents`);
}

const setsOf = new WeakMap<object, ReadonlySet<unknown>>();

/** Whether a path, one around it, or one below it has changed; `modified` are the changed paths and those around them. */
function $isModified(this: Inner, ...args: readonly unknown[]): unknown {
  const [path, options, modified] = args;
  const states = this.$__.activePaths?.states;
  const known = states !== undefined && Array.isArray(modified) &&
    typeof path === "string" && path !== "" && !path.includes(" ");
  if (!known || (options !== undefined && options !== null)) {
    return mongooseMethod(this, "$isModified").apply(this, [...args]);
  }
  const { modify } = states;
  if (modify === undefined || modify === null) return false;
  for (let end = path.length; end > 0; end = path.lastIndexOf(".", end - 1)) {
    if (Object.hasOwn(modify, path.slice(0, end))) return true;
  }
  let set = setsOf.get(modified);
  if (set === undefined) setsOf.set(modified, set = new Set(modified));
  return set.has(path);
}

function invalidate(this: Inner, ...args: readonly unknown[]): unknown {
  const result = mongooseMethod(this, "invalidate").apply(this, [...args]);
  joinLate(this.$__.validationError);
  return result;
}

/** Mongoose writes the message of all problems anew with each one: it is written when it is read. */
function joinLate(error: JoinedError | null | undefined): void {
  if (!(error instanceof mongoose.Error.ValidationError) || Object.hasOwn(error, "addError")) {
    return;
  }
  const { errors, _message } = error as unknown as JoinedError;
  const own = { configurable: true, enumerable: false } as const;
  const addError = (path: string, problem: Error): void => {
    if (problem instanceof mongoose.Error.ValidationError) {
      for (const [below, each] of Object.entries(problem.errors)) {
        addError(`${path}.${below}`, each);
      }
    } else errors[path] = problem;
  };
  const set = (value: unknown) =>
    Object.defineProperty(error, "message", { ...own, value, writable: true });
  const get = () =>
    `${_message}: ${
      Object.entries(errors).map(([path, { message }]) => `${path}: ${message}`).join(", ")
    }`;
  Object.defineProperty(error, "addError", { ...own, writable: true, value: addError });
  Object.defineProperty(error, "message", { ...own, get, set });
}
