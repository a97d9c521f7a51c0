/**
 * Imports a package that only the server's own folder has, so that neither Deno's type check nor
 * the bundler looks for it.
 *
 * @typeParam T What is used of it.
 * @param name The name of the package.
 * @returns Its exports.
 */
export async function importPeer<T>(name: string): Promise<T> {
  return await import(name) as T;
}
