/**
 * @internal The writes of an entity after which a field has the sender of the request. With `"createdBy"`, the write
 * that has created the entity. With `"updatedBy"`, the last write, which may be the creation.
 */
export type Stamp = "createdBy" | "updatedBy";
