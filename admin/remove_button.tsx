/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Button } from "@mui/material";
import { useState } from "react";
import { Confirm, useDelete, useNotify } from "react-admin";
import { messageOf } from "./failure.ts";
import type { Entity } from "./page_context.ts";
import { AT_ONCE, useRefreshAround } from "./typed_values.ts";

interface RemoveButtonProps {
  readonly resource: string;
  readonly entity: Entity;
  readonly name: string;
  /** Whether the entity is moved to the trash, or removed for good. */
  readonly to: "trash" | "nowhere";
  readonly isTrash?: boolean;
  readonly onRemoved?: () => void;
}

export function RemoveButton(
  { resource, entity, name, to, isTrash, onRemoved }: RemoveButtonProps,
) {
  const [isOpen, setOpen] = useState(false);
  const notify = useNotify();
  const refresh = useRefreshAround();
  const [remove, { isPending }] = useDelete(undefined, undefined, AT_ONCE);
  const meta = isTrash ? { isTrash } : undefined;
  const confirm = () =>
    remove(resource, { id: entity._id, previousData: { ...entity, id: entity._id }, meta }, {
      mutationMode: "pessimistic",
      onSuccess: () => {
        setOpen(false);
        notify(to === "trash" ? "Moved to the trash" : "Removed", { type: "success" });
        // A refresh would read the removed entity again before its page is left.
        (onRemoved ?? refresh)();
      },
      onError: (error: unknown) => {
        setOpen(false);
        notify(messageOf(error), { type: "error", multiLine: true });
        refresh();
      },
    });
  const label = isTrash ? "Remove for good" : "Remove";
  return (
    <>
      <Button size="small" color="error" onClick={() => setOpen(true)}>{label}</Button>
      <Confirm
        isOpen={isOpen}
        loading={isPending}
        title={`${label}: ${name}`}
        content={to === "trash" ? "It is moved to the trash." : "This cannot be undone."}
        confirm={label}
        confirmColor="warning"
        onConfirm={confirm}
        onClose={() => setOpen(false)}
      />
    </>
  );
}
