/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Alert, Box, Button, Card, TextField, Typography } from "@mui/material";
import { type FormEvent, useState } from "react";
import type { AdminLogin } from "../src/admin/options.ts";
import { Mark } from "./mark.tsx";

interface LoginPageProps {
  readonly title: string;
  readonly login: AdminLogin;
  /** Whether the server has refused the last login. */
  readonly isRefused: boolean;
  readonly onLogin: (text: string) => void;
  /** Shows the page without a login. */
  readonly onCancel: (() => void) | undefined;
}

export function LoginPage(
  { title, login: { label, help }, isRefused, ...handlers }: LoginPageProps,
) {
  const { onLogin, onCancel } = handlers;
  const [text, setText] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text !== "") onLogin(text);
  };
  return (
    <Box component="main" sx={{ minHeight: "100dvh", display: "grid", placeItems: "center", p: 2 }}>
      <Box sx={{ width: "100%", maxWidth: 400, display: "grid", gap: 3 }}>
        <Box sx={{ display: "grid", justifyItems: "center", gap: 1.5 }}>
          <Mark title={title} size={48} />
          <Typography variant="h5" component="h1">Sign in to {title}</Typography>
        </Box>
        <Card variant="outlined" component="form" onSubmit={submit} sx={FORM}>
          {isRefused && (
            <Alert severity="error">
              The server does not accept this, or you may not see anything. Check it, and try again.
            </Alert>
          )}
          <TextField
            label={label}
            type="password"
            autoComplete="current-password"
            required
            autoFocus
            margin="none"
            size="medium"
            value={text}
            onChange={(event) =>
              setText(event.target.value)}
            helperText={help ??
              `Your ${label} for ${title}. It is forgotten when you close this tab.`}
          />
          <Button type="submit" variant="contained" size="large" fullWidth>Sign in</Button>
          {onCancel && <Button onClick={onCancel} fullWidth>Go on without</Button>}
        </Card>
      </Box>
    </Box>
  );
}

const FORM = { display: "grid", gap: 2, p: 3 };
