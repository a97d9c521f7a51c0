/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Button, Dialog, DialogActions, DialogContent, DialogContentText } from "@mui/material";
import { DialogTitle, Table, TableBody, TableCell, TableHead, TableRow } from "@mui/material";
import { type Field, readableName } from "./fields.ts";
import { isSame } from "./body.ts";
import type { Entity } from "./page_context.ts";
import { ShownValue } from "./value.tsx";

type Values = Readonly<Record<string, unknown>>;

/** Another client has written the entity before this write. */
export interface Conflict {
  readonly mine: Values;
  readonly stored: Entity;
}

interface ConflictDialogProps extends Conflict {
  readonly fields: readonly Field[];
  readonly onKeepMine: () => void;
  readonly onTakeStored: () => void;
}

export function ConflictDialog({ mine, stored, fields, ...choices }: ConflictDialogProps) {
  const { onKeepMine, onTakeStored } = choices;
  const changed = fields.filter(({ name }) => name in mine && !isSame(mine[name], stored[name]));
  return (
    <Dialog open fullWidth maxWidth="md" aria-labelledby="conflict">
      <DialogTitle id="conflict">Somebody else has changed this</DialogTitle>
      <DialogContent>
        <DialogContentText>Nothing was saved. These fields differ:</DialogContentText>
        <Table size="small">
          <TableHead>
            <TableRow>
              {["Field", "Stored now", "Yours"].map((text) => (
                <TableCell key={text}>{text}</TableCell>
              ))}
            </TableRow>
          </TableHead>
          <TableBody>
            {changed.map((field) => (
              <TableRow key={field.name}>
                <TableCell component="th" scope="row">{readableName(field.name)}</TableCell>
                <TableCell>
                  <ShownValue value={stored[field.name]} field={field} />
                </TableCell>
                <TableCell>
                  <ShownValue value={mine[field.name]} field={field} />
                </TableCell>
              </TableRow>
            ))}
          </TableBody>
        </Table>
      </DialogContent>
      <DialogActions>
        <Button onClick={onTakeStored}>Take what is stored</Button>
        <Button onClick={onKeepMine}>Keep mine</Button>
      </DialogActions>
    </Dialog>
  );
}
