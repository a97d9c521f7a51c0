import mongoose, { type Document, type Schema, type SchemaType } from "mongoose";
import { isAdopted } from "../../adopted/adoption.ts";
import { memoize } from "../../memoize.ts";
import { schemasWithin } from "../schemas/schema_members.ts";

interface Subdocument extends Document {
  readonly $isSingleNested?: boolean;
  readonly $basePath: string;
  $parent(): Document | undefined;
}

type NestedType = SchemaType & { readonly $isSingleNested?: boolean };

const { SchemaType: AnyType } = mongoose;

/** Mongoose runs the validators of an embedded object only if it is set as a whole, and a PATCH sets fields inside. */
export async function validateDocument(doc: Document): Promise<void> {
  if (!isAdopted(doc.schema) && validatesObjects(doc.schema)) {
    for (const subdocument of doc.$getAllSubdocs() as Subdocument[]) {
      const error = await problemOf(subdocument);
      if (error !== undefined) doc.invalidate(fullPath(subdocument), error);
    }
  }
  await doc.validate();
}

async function problemOf(
  subdocument: Subdocument,
): Promise<mongoose.Error.ValidatorError | undefined> {
  const { $isSingleNested, $basePath: path } = subdocument;
  const parent = $isSingleNested ? subdocument.$parent() : undefined;
  const type = parent?.schema.path(path) as NestedType | undefined;
  if (parent === undefined || type === undefined || type.validators.length === 0) return undefined;
  if (!parent.isModified(path) || parent.isDirectModified(path)) return undefined;
  const { doValidate } = AnyType.prototype as unknown as Validator;
  return await doValidate.call(type, subdocument, parent, {}).then(
    () => undefined,
    (error) => error,
  );
}

export function fullPath(subdocument: Document): string {
  const names: string[] = [];
  for (let each: Document | undefined = subdocument; each !== undefined;) {
    const pathInParent: unknown = Reflect.get(each, "$__pathRelativeToParent");
    if (typeof pathInParent !== "function") break;
    names.unshift(Reflect.apply(pathInParent, each, []));
    each = (each as Subdocument).$parent();
  }
  return names.join(".");
}

interface Validator {
  doValidate(this: SchemaType, value: unknown, scope: Document, options: object): Promise<void>;
}

const validatesObjects = memoize((schema: Schema): boolean =>
  [...schemasWithin(schema)].some((each) =>
    Object.values(each.paths as unknown as Record<string, NestedType>).some((
      { $isSingleNested, validators },
    ) => $isSingleNested === true && validators.length > 0)
  )
);
