/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { FormControlLabel, Switch } from "@mui/material";
import { useEffect, useState } from "react";
import { useListContext, useNotify, useRefresh } from "react-admin";
import type { PageModel } from "../src/admin/document.ts";
import { failure, messageOf } from "./failure.ts";
import { pluralOf } from "./fields.ts";
import { filterOf } from "./list_query.ts";
import { usePage } from "./page_context.ts";
import { useVisible } from "./use_visible.ts";

export function LiveSwitch({ model }: { readonly model: PageModel }) {
  const { open } = usePage();
  const { filterValues } = useListContext();
  const refresh = useRefresh();
  const notify = useNotify();
  const [isOn, setOn] = useState(false);
  const isVisible = useVisible();
  const filter = JSON.stringify(filterOf(filterValues, model));
  useEffect(() => {
    if (!isOn || !isVisible) return;
    const stop = new AbortController();
    const follow = async () => {
      const q = filter === undefined ? {} : { q: JSON.parse(filter) as object };
      for await (const _list of open(model.path).live({ ...q, signal: stop.signal })) {
        refresh();
      }
    };
    follow().catch((error: unknown) => {
      if (stop.signal.aborted) return;
      setOn(false);
      notify(messageOf(failure(`follow ${pluralOf(model).toLowerCase()}`, error)), {
        type: "error",
      });
    });
    return () => stop.abort();
  }, [isOn, isVisible, filter]);
  const toggle = (
    <Switch
      size="small"
      checked={isOn}
      onChange={(_event, checked) => setOn(checked)}
    />
  );
  return (
    <FormControlLabel
      control={toggle}
      label="Live"
      slotProps={{ typography: { variant: "body2" } }}
    />
  );
}
