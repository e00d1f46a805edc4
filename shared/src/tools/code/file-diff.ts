import { isBinary } from "../files/text-content.ts";

const largest = 1024 ** 2;
const diffMs = 5000;

/**
 * The change of one file as git writes and takes it; undefined content stands for a file that is not there. Empty when nothing changed, and for binary
 * files and those above 1 MB.
 */
export async function fileDiff(
  path: string,
  before: Uint8Array | undefined,
  after: Uint8Array | undefined,
): Promise<string> {
  if ([before, after].some((bytes) => bytes && (bytes.length > largest || isBinary(bytes)))) return "";
  const texts = [before, after].map((bytes) => new TextDecoder().decode(bytes));
  if (texts[0] === texts[1]) return "";
  const { createTwoFilesPatch } = await import("diff");
  const names = [before ? `a/${path}` : "/dev/null", after ? `b/${path}` : "/dev/null"] as const;
  const options = { context: 3, timeout: diffMs };
  const patch = createTwoFilesPatch(...names, texts[0] ?? "", texts[1] ?? "", undefined, undefined, options);
  if (patch === undefined) return "";
  return `diff --git a/${path} b/${path}\n${mode(before, after)}${patch.slice(patch.indexOf("--- "))}`;
}

/** What git wants to read for a file that is made or removed. */
function mode(before: Uint8Array | undefined, after: Uint8Array | undefined): string {
  if (before === undefined) return "new file mode 100644\n";
  return after === undefined ? "deleted file mode 100644\n" : "";
}
