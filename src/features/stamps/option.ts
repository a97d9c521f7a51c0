/**
 * @internal The writes after which a field has the sender of the request. `"createdBy"` is the creation of the entity,
 * and `"updatedBy"` is the last write, which may be the creation.
 */
export type Stamp = "createdBy" | "updatedBy";
