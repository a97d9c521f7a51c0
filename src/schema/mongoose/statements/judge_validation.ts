import mongoose from "mongoose";
import type { Document } from "mongoose";
import { middlewareOf } from "../schemas/schema_members.ts";

const { ValidationError } = mongoose.Error;

export type FoundProblems = Record<string, unknown>;

type Judge = (problems: FoundProblems) => void;

const judges = new WeakMap<Document, Judge>();

type Validate = (...args: unknown[]) => Promise<void>;

/**
 * `judge` may remove errors, or throw another. Middleware cannot make a failed validation succeed,
 * and `save()` calls `$validate`.
 */
export function judgeValidation(doc: Document, judge: Judge): void {
  const isJudged = judges.has(doc);
  judges.set(doc, judge);
  if (isJudged) return;
  const methods = doc as unknown as Record<"validate" | "$validate", Validate>;
  for (const name of ["validate", "$validate"] as const) {
    const own = methods[name];
    const value: Validate = async (...args) => {
      try {
        await own.apply(doc, args);
      } catch (error) {
        if (!(error instanceof ValidationError)) throw error;
        judges.get(doc)?.(error.errors);
        if (Object.keys(error.errors).length > 0) throw error;
        await middlewareOf(doc).execPost("validate", doc, [doc]);
      }
    };
    Object.defineProperty(doc, name, { value, configurable: true, writable: true });
  }
}

/** The errors before the validation, for example of failed casts. */
export function pendingProblems(doc: Document): FoundProblems {
  const { $__: { validationError } } = doc as unknown as {
    readonly $__: { readonly validationError?: { readonly errors: FoundProblems } | null };
  };
  return validationError?.errors ?? NO_PROBLEMS;
}

const NO_PROBLEMS: FoundProblems = Object.freeze({});
