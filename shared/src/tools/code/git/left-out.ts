import { sanitizeLine } from "../../../core/text/sanitize.ts";
import type { Sandbox } from "../../../machine/sandbox/sandbox.ts";
import type { LfsClone } from "./lfs-content.ts";
import { runGit } from "./run-git.ts";

/** What a clone names but does not hold. */
type LeftOut = {
  readonly submodules: readonly { readonly path: string; readonly commit: string; readonly url: string | undefined }[];
  /** Files whose content Git LFS keeps elsewhere. */
  readonly pointers: readonly string[];
};

/** Lists of entries that end with NUL: links to commits, the settings of submodules, files. */
const script = `set -eu
cd -- "$1"
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
git ls-tree -rz HEAD | grep -z '^160000 ' > "$folder/links" || true
git config -z -f .gitmodules --get-regexp '^submodule\\..*\\.(path|url)$' > "$folder/settings" 2> /dev/null || true
if git grep -qI -e 'filter=lfs' HEAD -- '.gitattributes' '**/.gitattributes'; then
  git grep -lzI -e '^version https://git-lfs.github.com/spec/v1$' HEAD > "$folder/pointers" || true
fi
touch "$folder/pointers"
printf '%s %s\\n' "$(wc -c < "$folder/links")" "$(wc -c < "$folder/settings")"
cat "$folder/links" "$folder/settings" "$folder/pointers"`;

const shown = 10;

/**
 * What a model should know of the parts of a clone that were not fetched; empty if there are none,
 * or if git could not tell.
 */
export async function leftOutText(
  folder: string,
  {
    workspace,
    sandbox,
    signal,
    lfs,
    isHidden,
  }: {
    readonly workspace: string;
    readonly sandbox: Sandbox;
    readonly signal: AbortSignal;
    readonly lfs: Pick<LfsClone, "fetched" | "missing">;
    /** Whether git takes no notice of the files of LFS that are here. */
    readonly isHidden: boolean;
  },
): Promise<string> {
  const bounds = { workspace, timeoutMs: 20_000, maxBytes: 1024 ** 2 };
  const { exitCode, output } = await runGit({ ...bounds, script, args: [folder] }, { sandbox, signal });
  if (exitCode !== 0) return "";
  const { submodules, pointers: all } = read(output);
  const pointers = all.filter((path) => !lfs.fetched.has(path));
  const named = submodules.slice(0, shown).map(({ path, commit, url }) => {
    const from = url === undefined ? "an address that .gitmodules does not name" : sanitizeLine(url, 200);
    return `- ${sanitizeLine(path, 120)} is commit ${commit} of ${from}`;
  });
  const files = pointers.slice(0, shown).map((path) => {
    const why = lfs.missing.get(path);
    return `${sanitizeLine(path, 120)}${why === undefined ? "" : ` (${why})`}`;
  });
  const here = [...lfs.fetched.keys()].slice(0, shown).map((path) => sanitizeLine(path, 120));
  return [
    ...(submodules.length > 0
      ? [
          `Submodules were not fetched; clone what the task needs with the commit as ref, and its path in this clone as into:`,
          ...named,
          ...(submodules.length > shown ? [`- and ${submodules.length - shown} more`] : []),
        ]
      : []),
    ...(here.length > 0
      ? [
          `Files of Git LFS are here with their content; ${isHidden ? "git takes no notice of them, and they cannot be committed" : "git takes them for changed: do not commit them"}: ${here.join(", ")}${lfs.fetched.size > shown ? ` and ${lfs.fetched.size - shown} more` : ""}`,
        ]
      : []),
    ...(pointers.length > 0
      ? [
          `Files of Git LFS were not fetched: these hold a pointer instead of their content, and must not be changed or committed: ${files.join(", ")}${pointers.length > shown ? ` and ${pointers.length - shown} more` : ""}`,
        ]
      : []),
  ]
    .map((line) => `\n${line}`)
    .join("");
}

function read(output: Buffer): LeftOut {
  const end = output.indexOf("\n") + 1;
  const [ofLinks = 0, ofSettings = 0] = output.subarray(0, end).toString("latin1").split(" ").map(Number);
  const entries = (from: number, to?: number) => output.subarray(from, to).toString("utf8").split("\0").filter(Boolean);
  const settings = new Map(
    entries(end + ofLinks, end + ofLinks + ofSettings).map((entry): [string, string] => {
      const at = entry.indexOf("\n");
      return [entry.slice(0, at), entry.slice(at + 1)];
    }),
  );
  const submodules = entries(end, end + ofLinks).map((entry) => {
    const [, commit = "", path = ""] = /^160000 commit ([0-9a-f]{40})\t(.*)$/s.exec(entry) ?? [];
    const [key] = [...settings].find(([name, value]) => name.endsWith(".path") && value === path) ?? [];
    return { path, commit, url: key && settings.get(key.replace(/path$/, "url")) };
  });
  const pointers = entries(end + ofLinks + ofSettings).map((entry) => entry.replace(/^HEAD:/, ""));
  return { submodules, pointers };
}
