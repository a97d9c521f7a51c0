/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Box, Button, Typography } from "@mui/material";

export function MessagePage({ title, text, signInPath, onRetry }: {
  readonly title: string;
  readonly text: string;
  readonly signInPath?: string | undefined;
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
        {signInPath && <Button variant="contained" href={signInPath}>Sign in</Button>}
        <Button variant="outlined" onClick={onRetry}>Load again</Button>
      </Box>
    </Box>
  );
}
