/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Avatar, SvgIcon } from "@mui/material";
import type { PageModel } from "../src/admin/document.ts";
import { iconPath } from "./icons.ts";

export function PathIcon({ path }: { readonly path: string }) {
  return (
    <SvgIcon fontSize="small">
      <path d={path} />
    </SvgIcon>
  );
}

interface ModelIconProps {
  readonly model: PageModel;
}

export function ModelIcon({ model: { model, icon } }: ModelIconProps) {
  const path = iconPath(model, icon);
  if (path !== undefined) return <PathIcon path={path} />;
  return (
    <Avatar
      component="span"
      aria-hidden
      sx={{
        width: 20,
        height: 20,
        fontSize: 12,
        fontWeight: 600,
        bgcolor: "text.secondary",
        color: "background.paper",
      }}
    >
      {model.charAt(0).toUpperCase()}
    </Avatar>
  );
}
