/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Alert, Button, Dialog, DialogActions, DialogContent, DialogTitle } from "@mui/material";
import { TextField, Typography } from "@mui/material";
import { useId, useState } from "react";

interface MadeKeyDialogProps {
  readonly text: string;
  readonly onClose: () => void;
}

export function MadeKeyDialog({ text, onClose }: MadeKeyDialogProps) {
  const titleId = useId();
  const [status, setStatus] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setStatus("Copied");
    } catch {
      // A page without HTTPS has no clipboard.
      setStatus("The browser does not copy it. Select the key, and copy it yourself.");
    }
  };
  return (
    <Dialog
      open
      // A click beside the dialog would lose the key.
      onClose={(_event, reason) => reason !== "backdropClick" && onClose()}
      fullWidth
      maxWidth="sm"
      aria-labelledby={titleId}
    >
      <DialogTitle id={titleId}>Your API key</DialogTitle>
      <DialogContent sx={{ display: "grid", gap: 1.5 }}>
        <Alert severity="warning">Copy the key now. It is not shown again.</Alert>
        <TextField
          label="API key"
          value={text}
          onFocus={({ target }) => target.select()}
          slotProps={{ input: { sx: CODE }, htmlInput: READ_ONLY }}
        />
        <Typography role="status" variant="body2">{status}</Typography>
      </DialogContent>
      <DialogActions>
        <Button onClick={onClose}>Close</Button>
        <Button variant="contained" onClick={() => void copy()}>Copy</Button>
      </DialogActions>
    </Dialog>
  );
}

const CODE = { fontFamily: "monospace" };

/** Browsers may send the key to a server to check its spelling. */
const READ_ONLY = { readOnly: true, autoComplete: "off", spellCheck: false };
