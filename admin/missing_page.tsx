/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Box, Button, Typography } from "@mui/material";
import { Link, Title } from "react-admin";
import type { PageModel } from "../src/admin/document.ts";
import { messageOf } from "./failure.ts";
import { pluralOf, singularOf } from "./fields.ts";

interface MissingProps {
  readonly title: string;
  readonly text: string;
  readonly to: string;
  readonly label: string;
}

function Missing({ title, text, to, label }: MissingProps) {
  return (
    <Box role="alert" sx={{ display: "grid", gap: 1.5, justifyItems: "center", p: 6 }}>
      <Typography variant="h5" component="h2">{title}</Typography>
      <Typography color="textSecondary" sx={{ textAlign: "center", maxWidth: 480 }}>
        {text}
      </Typography>
      <Button variant="outlined" component={Link} to={to} sx={{ mt: 1 }}>{label}</Button>
    </Box>
  );
}

export function MissingEntity(
  { model, error }: { readonly model: PageModel; readonly error: unknown },
) {
  const isGone = (error as { readonly status?: unknown }).status === 404;
  const name = singularOf(model);
  return (
    <Missing
      title={isGone ? `This ${name} is not here` : `This ${name} cannot be shown`}
      text={!isGone
        ? messageOf(error)
        : `It was removed, or you may not see it.${
          model.hasTrash ? " It may be in the trash." : ""
        }`}
      to={`/${model.name}`}
      label={`All ${pluralOf(model).toLowerCase()}`}
    />
  );
}

export function UnknownPage() {
  return (
    <>
      <Title title="Not found" />
      <Missing
        title="There is no such page"
        text="The address may be mistyped, or lead to something that you may not see."
        to="/"
        label="Home"
      />
    </>
  );
}
