import { FrameworkModel, one, prop, type ReadOnly, replace } from "@mongrove/mongrove";
import { rest, StoredFile } from "@mongrove/mongrove";
import { signedIn } from "./users.ts";

/** A file on a ticket. */
export class Attachment extends FrameworkModel {
  @prop({ required: true })
  title!: string;

  @prop({ stamp: "createdBy" })
  readonly author?: ReadOnly<string>;

  @rest({ methods: [one(), replace({ preFetch: signedIn })] })
  @prop({ type: StoredFile, maxBytes: 10_000_000, accept: ["image/*", "text/plain"], inline: true })
  file?: StoredFile;
}
