/**
 * A schema of a validation library that implements [Standard Schema](https://standardschema.dev), such as Zod, Valibot or
 * ArkType.
 */
export interface StandardSchema {
  /** The property that the specification defines. */
  readonly "~standard": {
    /** The version of the specification. */
    readonly version: 1;
    /** The name of the library. */
    readonly vendor: string;
    /** Validates a value, synchronously or asynchronously. */
    readonly validate: (value: unknown) => StandardResult | Promise<StandardResult>;
    /** The types of valid values. They exist in TypeScript only. */
    readonly types?: { readonly input: unknown; readonly output: unknown } | undefined;
  };
}

/** @internal The result of a validation. It has `issues` if the value is not valid. */
export interface StandardResult {
  /** The problems of the value. */
  readonly issues?: readonly StandardIssue[] | undefined;
}

/** @internal A problem of a value, or of a part of it. */
export interface StandardIssue {
  /** The message for clients. */
  readonly message: string;
  /** The path of the part. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}
