type Fields = Record<string, unknown>;
type Id = { readonly id: string };

/** What is used of a data provider of React-admin. */
export interface Provider {
  getList(resource: string, params: Fields): Promise<{ data: (Fields & Id)[]; total: number }>;
  getManyReference: Provider["getList"];
  getOne(resource: string, params: Fields): Promise<{ data: Fields & Id }>;
  getMany(resource: string, params: Fields): Promise<{ data: (Fields & Id)[] }>;
  create: Provider["getOne"];
  update: Provider["getOne"];
  delete: Provider["getOne"];
  updateMany(resource: string, params: Fields): Promise<{ data: string[] }>;
  deleteMany: Provider["updateMany"];
}

/** The default export of a CommonJS module. */
declare const module: { default: (url: string) => Provider };
export default module;
