import { posix } from "node:path";

/** Whether the imports of such files can be read. */
export function hasImports(path: string): boolean {
  return script.test(path) || path.endsWith(".py");
}

const script = /\.[cm]?[jt]sx?$/;
const scriptImport =
  /(?:\bfrom|\bimport|\brequire\s*\(|\bimport\s*\(|\bmock\s*\()\s*["'`](\.{1,2}\/[^"'`\n]{1,300}|\.{1,2})["'`]/g;
const pythonImport =
  /^[ \t]*(?:from[ \t]+([.\w]{1,300})[ \t]+import[ \t]+([^\n#]{1,1000})|import[ \t]+([^\n#]{1,1000}))/gm;
const extensions = [".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".json"];

/**
 * The files among `all` that this file imports, as far as its text tells: relative modules of
 * JavaScript and TypeScript, and modules of Python from the project's folder or its `src`.
 */
export function importsOf(path: string, text: string, all: ReadonlySet<string>, root: string): readonly string[] {
  const found = script.test(path) ? scriptPaths(path, text) : pythonPaths(path, text, root);
  return [...new Set(found.filter((one) => one !== path && all.has(one)))];
}

function scriptPaths(path: string, text: string): string[] {
  return [...text.matchAll(scriptImport)].flatMap(([, specifier = ""]) => {
    const target = posix.join(posix.dirname(path), specifier);
    const plain = target.replace(/\.[cm]?jsx?$/, "");
    const named = [target, plain].flatMap((one) => extensions.map((extension) => `${one}${extension}`));
    return [target, ...named, ...extensions.map((extension) => `${target}/index${extension}`)];
  });
}

function pythonPaths(path: string, text: string, root: string): string[] {
  const below = (folder: string) => posix.join(root, folder);
  const roots = [below("."), below("src"), posix.dirname(path)];
  return [...text.matchAll(pythonImport)].flatMap(([, from, names = "", plain = ""]) => {
    if (from === undefined)
      return plain.split(",").flatMap((one) => modulePaths(roots, one.trim().split(/\s/)[0] ?? ""));
    const inside = names
      .replaceAll(/[()]/g, "")
      .split(",")
      .map((one) => one.trim().split(/\s/)[0] ?? "");
    const dots = /^\.*/.exec(from)?.[0].length ?? 0;
    const start = dots === 0 ? roots : [posix.join(posix.dirname(path), "../".repeat(dots - 1))];
    const module = from.slice(dots);
    const members = inside
      .filter((name) => /^\w+$/.test(name))
      .map((name) => (module === "" ? name : `${module}.${name}`));
    return [module, ...members].flatMap((one) => modulePaths(start, one));
  });
}

/** A module's file, and the packages it is in, which run when it is imported. */
function modulePaths(roots: readonly string[], module: string): string[] {
  const names = module === "" ? [] : module.split(".");
  return roots.flatMap((root) => {
    const packages = names.map((_, at) => posix.join(root, ...names.slice(0, at + 1), "__init__.py"));
    return [`${posix.join(root, ...names)}.py`, ...packages];
  });
}
