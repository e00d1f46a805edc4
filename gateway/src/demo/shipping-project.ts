import { join } from "node:path";

/** The files of a project in one folder, by name. */
export type ProjectFiles = Readonly<Record<string, string>>;

const names = ["shipping.py", "test_shipping.py"];

/** The small project whose tests fail. */
export async function readShippingProject(root: string): Promise<ProjectFiles> {
  const read = names.map(async (name) => [name, await Bun.file(join(root, "gateway/demo/shipping", name)).text()]);
  return Object.fromEntries(await Promise.all(read));
}

/** The project as `shipping.tar.gz`. */
export function packProject(files: ProjectFiles): Promise<Uint8Array> {
  const named = Object.entries(files).map(([name, text]) => [`shipping/${name}`, text]);
  return new Bun.Archive(Object.fromEntries(named), { compress: "gzip" }).bytes();
}
