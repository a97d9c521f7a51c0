/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Box, Button, Typography } from "@mui/material";

/** Says why the page shows nothing, and what the reader can do. */
export function MessagePage({ title, text, onRetry }: {
  readonly title: string;
  readonly text: string;
  readonly onRetry: () => void;
}) {
  return (
    <Box
      component="main"
      role="alert"
      sx={{ display: "grid", placeItems: "center", minHeight: "100vh", p: 3 }}
    >
      <Box sx={{ maxWidth: 480, display: "grid", gap: 2 }}>
        <Typography variant="h5" component="h1">{title}</Typography>
        <Typography>{text}</Typography>
        <Button variant="outlined" onClick={onRetry}>Load again</Button>
      </Box>
    </Box>
  );
}
