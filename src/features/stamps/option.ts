/**
 * @internal The writes after which a field has the sender of the request: `"createdBy"` is the creation, and
 * `"updatedBy"` is the last write.
 */
export type Stamp = "createdBy" | "updatedBy";
