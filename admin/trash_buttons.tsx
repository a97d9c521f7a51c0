/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Button, Stack, Typography } from "@mui/material";
import { useState } from "react";
import { useNotify, useRecordContext, useRefresh } from "react-admin";
import type { PageModel } from "../src/admin/document.ts";
import { failure, messageOf } from "./failure.ts";
import { nameOf, parameterOf, singularOf } from "./fields.ts";
import { type Entity, usePage } from "./page_context.ts";
import { RemoveButton } from "./remove_button.tsx";

export function TrashButtons({ model }: { readonly model: PageModel }) {
  const { open } = usePage();
  const entity = useRecordContext<Entity & { readonly id: string }>();
  const notify = useNotify();
  const refresh = useRefresh();
  const [isBusy, setBusy] = useState(false);
  const { all, remove } = model.operations;
  if (entity === undefined || all === undefined) return null;
  const restore = async () => {
    setBusy(true);
    try {
      const match = "__v" in entity ? { ifMatch: entity } : {};
      await open(model.path).restore(entity._id, match);
      notify("Restored", { type: "success" });
    } catch (error) {
      notify(messageOf(failure(`restore the ${singularOf(model)}`, error)), {
        type: "error",
        multiLine: true,
      });
    } finally {
      setBusy(false);
      refresh();
    }
  };
  return (
    <Stack component="span" direction="row" sx={{ gap: 1 }}>
      {model.added.restore
        ? <Button size="small" disabled={isBusy} onClick={() => void restore()}>Restore</Button>
        : (
          <Typography
            component="span"
            variant="body2"
            color="textSecondary"
            sx={{ alignSelf: "center" }}
          >
            You may not restore this
          </Typography>
        )}
      {parameterOf(remove, "trash") && (
        <RemoveButton
          resource={model.name}
          entity={entity}
          name={nameOf(entity, model)}
          to="nowhere"
          isTrash
        />
      )}
    </Stack>
  );
}
