import mongoose from "mongoose";
import type { Document } from "mongoose";
import { middlewareOf } from "../schemas/schema_members.ts";

const { ValidationError } = mongoose.Error;

export type FoundProblems = Record<string, unknown>;

type ErrorFilter = (problems: FoundProblems) => void;

const filters = new WeakMap<Document, ErrorFilter>();

type Validate = (...args: unknown[]) => Promise<void>;

/**
 * `filter` may remove validation errors, or throw another. Middleware cannot make a failed validation succeed, so
 * `validate()` and `$validate()`, which `save()` calls, are replaced.
 */
export function filterErrors(doc: Document, filter: ErrorFilter): void {
  const isFiltered = filters.has(doc);
  filters.set(doc, filter);
  if (isFiltered) return;
  const methods = doc as unknown as Record<"validate" | "$validate", Validate>;
  for (const name of ["validate", "$validate"] as const) {
    const own = methods[name];
    const value: Validate = async (...args) => {
      try {
        await own.apply(doc, args);
      } catch (error) {
        if (!(error instanceof ValidationError)) throw error;
        filters.get(doc)?.(error.errors);
        if (Object.keys(error.errors).length > 0) throw error;
        await middlewareOf(doc).execPost("validate", doc, [doc]);
      }
    };
    Object.defineProperty(doc, name, { value, configurable: true, writable: true });
  }
}

export function pendingProblems(doc: Document): FoundProblems {
  const { $__: { validationError } } = doc as unknown as {
    readonly $__: { readonly validationError?: { readonly errors: FoundProblems } | null };
  };
  return validationError?.errors ?? NO_PROBLEMS;
}

const NO_PROBLEMS: FoundProblems = Object.freeze({});
