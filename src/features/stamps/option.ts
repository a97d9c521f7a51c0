/**
 * @internal The writes that store the sender in a field: `"createdBy"` is the creation, and `"updatedBy"` the last
 * write.
 */
export type Stamp = "createdBy" | "updatedBy";
