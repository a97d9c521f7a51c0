import type { OpenLevelContext } from "../../pipeline/request/request_context.ts";
import type { TextAnswer } from "../../pipeline/request/answer.ts";
import { changeEntity } from "../../pipeline/write.ts";
import { noteSet } from "../../write/set_paths.ts";
import type { TrashConfig } from "./trash.ts";

export async function restore(
  context: OpenLevelContext,
  { field, byField, withField }: TrashConfig,
): Promise<TextAnswer> {
  return await changeEntity(context, (entity) => {
    entity.set({ [field]: undefined, [byField]: undefined, [withField]: undefined });
    noteSet(entity, [field, byField, withField]);
    return Promise.resolve([]);
  });
}
