/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Box, Button, Checkbox, FormControlLabel, IconButton, Popover, Stack } from "@mui/material";
import { SvgIcon } from "@mui/material";
import { useState } from "react";
import { useStore } from "react-admin";
import type { PageModel } from "../src/admin/document.ts";
import { columnsOf, type Field, readableName } from "./fields.ts";

export function useColumns(
  model: PageModel,
): readonly [columns: readonly Field[], choose: (names: readonly string[] | undefined) => void] {
  const [stored, store] = useStore<readonly string[] | undefined>(`${model.name}.columns`);
  // The model may have lost a field since the choice, and another reader may not see it.
  const known = stored?.filter((name) => model.columns.includes(name)) ?? [];
  return [columnsOf(model, known.length > 0 ? known : model.list), store];
}

export function ColumnsButton({ model }: { readonly model: PageModel }) {
  const [anchor, setAnchor] = useState<HTMLElement | null>(null);
  const [columns, choose] = useColumns(model);
  const names = columns.map(({ name }) => name);
  const others = columnsOf(model, model.columns.filter((name) => !names.includes(name)));
  const toggle = (name: string) =>
    choose(names.includes(name) ? names.filter((each) => each !== name) : [...names, name]);
  const swap = (at: number) =>
    choose([...names.slice(0, at), ...names.slice(at, at + 2).reverse(), ...names.slice(at + 2)]);
  return (
    <>
      <Button
        size="small"
        startIcon={<Icon path="M3 5v14h18V5zm5 12H5V7h3zm6 0h-4V7h4zm5 0h-3V7h3z" />}
        aria-haspopup="dialog"
        onClick={({ currentTarget }) => setAnchor(currentTarget)}
      >
        Columns
      </Button>
      <Popover
        open={anchor !== null}
        anchorEl={anchor}
        onClose={() => setAnchor(null)}
        anchorOrigin={{ vertical: "bottom", horizontal: "left" }}
        slotProps={{ paper: { role: "dialog", "aria-label": "Columns" } }}
      >
        <Box component="ul" sx={{ m: 0, p: 1, minWidth: 240, listStyle: "none" }}>
          {[...columns, ...others].map(({ name }, at) => (
            <Stack
              key={name}
              component="li"
              direction="row"
              sx={{ alignItems: "center", justifyContent: "space-between", pl: 1 }}
            >
              <FormControlLabel
                label={readableName(name)}
                slotProps={{ typography: { variant: "body2" } }}
                control={
                  <Checkbox
                    size="small"
                    checked={at < names.length}
                    disabled={names.length === 1 && at === 0}
                    onChange={() => toggle(name)}
                  />
                }
              />
              {at < names.length && (
                <span>
                  <Move
                    label={`Move ${readableName(name)} up`}
                    path={UP}
                    onClick={() => swap(at - 1)}
                    disabled={at === 0}
                  />
                  <Move
                    label={`Move ${readableName(name)} down`}
                    path={DOWN}
                    onClick={() => swap(at)}
                    disabled={at === names.length - 1}
                  />
                </span>
              )}
            </Stack>
          ))}
        </Box>
        <Box sx={{ px: 2, pb: 1.5 }}>
          <Button size="small" onClick={() => choose(undefined)}>Reset</Button>
        </Box>
      </Popover>
    </>
  );
}

const UP = "M7.41 15.41 12 10.83l4.59 4.58L18 14l-6-6-6 6z";
const DOWN = "M7.41 8.59 12 13.17l4.59-4.58L18 10l-6 6-6-6z";

function Icon({ path }: { readonly path: string }) {
  return (
    <SvgIcon fontSize="small">
      <path d={path} />
    </SvgIcon>
  );
}

interface MoveProps {
  readonly label: string;
  readonly path: string;
  readonly disabled: boolean;
  readonly onClick: () => void;
}

function Move({ label, path, ...props }: MoveProps) {
  return (
    <IconButton size="small" aria-label={label} {...props}>
      <Icon path={path} />
    </IconButton>
  );
}
