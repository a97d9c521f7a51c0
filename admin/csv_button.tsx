/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Button } from "@mui/material";
import { useState } from "react";
import { useListContext, useNotify } from "react-admin";
import type { PageModel } from "../src/admin/document.ts";
import { messageOf } from "./failure.ts";
import { usePage } from "./page_context.ts";
import { readCsv } from "./read_csv.ts";
import { saveBlob } from "./save_blob.ts";

export function CsvButton({ model }: { readonly model: PageModel }) {
  const { filterValues, sort } = useListContext();
  const { urlOf } = usePage();
  const notify = useNotify();
  const [isBusy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      const params = { filter: filterValues, sort };
      saveBlob(await readCsv(model, { params, list: urlOf(model.path) }), `${model.name}.csv`);
    } catch (error) {
      notify(messageOf(error), { type: "error", multiLine: true });
    } finally {
      setBusy(false);
    }
  };
  return <Button size="small" onClick={() => void save()} disabled={isBusy}>Save as CSV</Button>;
}
