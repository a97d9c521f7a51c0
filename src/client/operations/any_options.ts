import type { CallOptions } from "../sending/send_request.ts";

export interface AnyOptions extends CallOptions {
  readonly q?: object;
  readonly select?: readonly string[];
  readonly populate?: readonly string[] | object;
  readonly revive?: readonly string[];
  readonly sort?: readonly string[];
  readonly by?: readonly string[];
  readonly sum?: readonly string[];
  readonly avg?: readonly string[];
  readonly search?: string;
  readonly limit?: number;
  readonly skip?: number;
  readonly after?: string | number;
  readonly names?: boolean;
  readonly trash?: "only";
  readonly timeZone?: string;
  readonly count?: boolean;
  readonly next?: string;
  readonly known?: object;
  readonly ifMatch?: object | string;
  readonly method?: "GET" | "POST";
  readonly minimal?: boolean;
  readonly maxAffected?: number;
  readonly createOnly?: boolean;
  readonly name?: string | undefined;
  readonly atomic?: false;
  readonly onDisconnect?: ((error: unknown) => void) | undefined;
}
