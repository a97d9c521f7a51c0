/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Avatar } from "@mui/material";

export function Mark({ title, size = 28 }: { readonly title: string; readonly size?: number }) {
  return (
    <Avatar
      variant="rounded"
      component="span"
      aria-hidden
      sx={{
        width: size,
        height: size,
        fontSize: size / 2,
        fontWeight: 700,
        bgcolor: "primary.main",
        color: "primary.contrastText",
      }}
    >
      {title.charAt(0).toUpperCase()}
    </Avatar>
  );
}
