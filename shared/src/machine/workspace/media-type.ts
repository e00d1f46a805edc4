import { extname } from "node:path";

/** Types that the runtime's own table lacks or gets wrong. */
const further: Readonly<Record<string, string>> = {
  ".ipynb": "application/x-ipynb+json",
  ".jsonl": "application/jsonl",
  ".parquet": "application/vnd.apache.parquet",
  ".py": "text/x-python",
  ".r": "text/x-r",
  ".sh": "text/x-shellscript",
  ".ts": "text/typescript",
  ".tsx": "text/typescript",
};

/**
 * The media type a file name suggests, without parameters; `application/octet-stream` when it
 * suggests none.
 */
export function mediaTypeOf(name: string): string {
  const own = further[extname(name).toLowerCase()];
  return own ?? Bun.file(name.toLowerCase().replaceAll("\0", "_")).type.replace(/;.*/, "");
}
