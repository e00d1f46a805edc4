import { basename, extname } from "node:path";
import { parse as parseToml } from "smol-toml";
import * as z from "zod";

/**
 * Started by `withDiagnostics` for one file: reads it as JSON from standard input and prints its
 * syntax errors, one per line.
 */

const scripts: Readonly<Record<string, Bun.JavaScriptLoader>> = {
  ".cjs": "js",
  ".cts": "ts",
  ".js": "js",
  ".jsx": "jsx",
  ".mjs": "js",
  ".mts": "ts",
  ".ts": "ts",
  ".tsx": "tsx",
};

const { name, text } = z.strictObject({ name: z.string(), text: z.string() }).parse(await Bun.stdin.json());
for (const problem of problemsOf(name, text)) process.stdout.write(`${problem}\n`);

function problemsOf(name: string, text: string): string[] {
  const extension = extname(name).toLowerCase();
  const loader = scripts[extension];
  try {
    if (loader !== undefined) new Bun.Transpiler({ loader }).transformSync(text);
    else if (/^[jt]sconfig.*\.json$|\.jsonc$/.test(basename(name))) Bun.JSONC.parse(text);
    else if (extension === ".json") JSON.parse(text);
    else if (extension === ".toml") parseToml(text);
    else Bun.YAML.parse(text);
    return [];
  } catch (error) {
    if (extension === ".json")
      return [...inScript(`(${text}\n)`), messageOf(error)].slice(0, 1).map((each) => `${name}${each}`);
    return positioned(error).map((each) => `${name}${each}`);
  }
}

/**
 * Parsing JSON as an expression shows where it is wrong; it does not find text that is a valid
 * expression but not valid JSON.
 */
function inScript(text: string): string[] {
  try {
    new Bun.Transpiler({ loader: "js" }).transformSync(text);
    return [];
  } catch (error) {
    return positioned(error);
  }
}

function positioned(error: unknown): string[] {
  const all: unknown[] = error instanceof AggregateError ? error.errors : [error];
  return all.map((each) =>
    each instanceof BuildMessage && each.position !== null
      ? `:${each.position.line}:${each.position.column}: ${each.message}`
      : messageOf(each),
  );
}

function messageOf(error: unknown): string {
  return `: ${error instanceof Error ? error.message.trim().split("\n")[0] : String(error)}`;
}
