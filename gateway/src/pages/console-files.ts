import { join, resolve } from "node:path";
import { lazily } from "manyhands/internal/core/async/lazy";

/** A file of the console as the browser gets it. */
export type ConsoleFile = {
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The same, compressed by gzip. */
  readonly gzip: Uint8Array<ArrayBuffer>;
  /** Changes with the content. */
  readonly etag: string;
};

const folder = resolve(import.meta.dir, "../console");
/** What `bun run pack` built; a checkout has none. */
const builtFolder = join(folder, "built");

const types: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
};

/**
 * The console's files by name: those of the package, or built from the sources when the first page
 * is asked for, and kept in memory. A build that failed is tried again with the next request.
 */
export const consoleFiles = lazily(async (): Promise<ReadonlyMap<string, ConsoleFile>> => {
  const built = await builtBefore();
  const texts = built.size > 0 ? built : await buildConsole();
  return new Map([...texts].map(([name, text]) => [name, consoleFile(name, text)]));
});

function consoleFile(name: string, text: string): ConsoleFile {
  const bytes = new TextEncoder().encode(text);
  const etag = `"${Bun.hash(bytes).toString(36)}"`;
  return { type: types[name.split(".").at(-1) ?? ""] ?? "text/plain", bytes, gzip: Bun.gzipSync(bytes), etag };
}

async function builtBefore(): Promise<Map<string, string>> {
  const names = await Array.fromAsync(new Bun.Glob("*.{js,css,html}").scan({ cwd: builtFolder })).catch(() => []);
  return new Map(
    await Promise.all(names.map(async (name) => [name, await Bun.file(join(builtFolder, name)).text()] as const)),
  );
}

/**
 * Builds the console from its sources: scripts, style sheet and page, by their names. Throws an
 * AggregateError that says what does not build.
 */
export async function buildConsole(): Promise<Map<string, string>> {
  const scripts = await Bun.build({
    entrypoints: [join(folder, "app/main.tsx")],
    target: "browser",
    minify: true,
    splitting: true,
    naming: { chunk: "chunk-[hash].[ext]" },
    define: { "process.env.NODE_ENV": '"production"' },
  });
  const styles = await Bun.build({ entrypoints: [join(folder, "theme/studio.css")], minify: true });
  const outputs = [...scripts.outputs, ...styles.outputs];
  const built = await Promise.all(
    outputs.map(async (output) => [output.path.split("/").at(-1) ?? "", await output.text()] as const),
  );
  return new Map([...built, ["index.html", await Bun.file(join(folder, "app/index.html")).text()]]);
}
