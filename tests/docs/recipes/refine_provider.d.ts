type Fields = Record<string, unknown>;

/** A film, as the adapter of examples/data_providers shows it. */
export type Film = Fields & { readonly id: string };

/** What is used of Refine's data provider. */
export interface Provider {
  getList(params: Fields): Promise<{ data: Film[]; total: number }>;
  getMany(params: Fields): Promise<{ data: Film[] }>;
  getOne(params: Fields): Promise<{ data: Film }>;
  create: Provider["getOne"];
  update: Provider["getOne"];
  deleteOne: Provider["getOne"];
  custom(params: Fields): Promise<{ data: unknown }>;
  getApiUrl(): string;
}

export default function provide(url: string): Provider;
