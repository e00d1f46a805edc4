import { accessSync, constants } from "node:fs";

const program = "/usr/bin/tesseract";
const deadlineMs = 25_000;
const maxLanguages = 4;
const env = { LANG: "C.UTF-8", OMP_THREAD_LIMIT: "1" };

/**
 * The text in a picture, by Tesseract with up to four of its installed languages; what stands in
 * the way if there is no Tesseract or it fails. It runs as confined as this process.
 */
export function recogniseText(picture: Uint8Array): { readonly text: string } | { readonly problem: string } {
  if (!isInstalled()) return { problem: "(A picture; to recognise text in it, install tesseract-ocr.)" };
  const languages = installedLanguages();
  const found = Bun.spawnSync([program, "stdin", "stdout", "-l", languages.join("+")], {
    stdin: new Blob([picture as Uint8Array<ArrayBuffer>]),
    env,
    timeout: deadlineMs,
    killSignal: "SIGKILL",
  });
  if (found.exitCode === 0) return { text: found.stdout.toString().replaceAll("\f", "").trim() };
  return { problem: "(A picture whose text Tesseract could not recognise.)" };
}

function isInstalled(): boolean {
  try {
    accessSync(program, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

let known: readonly string[] | undefined;

function installedLanguages(): readonly string[] {
  const { stdout } = known === undefined ? Bun.spawnSync([program, "--list-langs"], { env }) : { stdout: "" };
  const names = stdout.toString().split("\n").slice(1);
  const languages = names.filter((name) => name !== "" && name !== "osd").slice(0, maxLanguages);
  known ??= languages.length === 0 ? ["eng"] : languages;
  return known;
}
