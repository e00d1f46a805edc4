import { AppError } from "../../../core/errors.ts";
import type { Workspace } from "../../../core/workspace.ts";
import type { Sandbox } from "../../../machine/sandbox/sandbox.ts";
import { runGit } from "../git/run-git.ts";

/** What a push sends: read from the objects themselves, whose names are their content's hashes. */
export type PushedChange = {
  /** The commit that the server has, on which the new ones stand. */
  readonly base: string;
  readonly commits: number;
  /** The newest of them, as `AUTHOR: SUBJECT`. */
  readonly newest: readonly { readonly commit: string; readonly author: string; readonly subject: string }[];
  readonly files: readonly {
    readonly path: string;
    /** Undefined for a file that is not text. */
    readonly lines: { readonly added: number; readonly removed: number } | undefined;
  }[];
  /** The objects that are sent, and nothing else. */
  readonly pack: Uint8Array<ArrayBuffer>;
};

const gitMs = 120_000;
const maxPack = 100 * 1024 ** 2;
const maxDescription = 4 * 1024 ** 2;

/**
 * Takes the objects out of a repository that others may have written: nothing it says is believed.
 * Two packs: what the server lacks, and what the new commits are compared with.
 */
const takeOut = `set -eu
cd -- "$1"; commit=$2; shift 2
git cat-file -e "$commit^{commit}" 2> /dev/null || exit 3
base=$(git rev-list --boundary "$commit" --not "$@" | sed -n 's/^-//p')
case "$base" in "") exit 4 ;; *[!0-9a-f]*) exit 5 ;; esac
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
{ echo "$commit"; printf '^%s\\n' "$@"; } | git pack-objects -q --revs --stdout > "$folder/new"
both='{ if ($1 != ":160000") print $3; if ($2 != "160000") print $4 }'
{ echo "$base"; git rev-parse "$base^{tree}"
  git rev-list "$commit" --not "$@" | git diff-tree --stdin --no-commit-id -r -t -m --no-renames --raw | awk "$both"
  git diff-tree -r -t --no-renames --raw "$base" "$commit" | awk "$both"
} | grep -vE '^0+$' | sort -u | git pack-objects -q --stdout > "$folder/context"
printf '%s %s\\n' "$base" "$(wc -c < "$folder/new")"
cat "$folder/new" "$folder/context"`;

/**
 * In another process, in a repository that it makes of these packs: git computes each object's name
 * anew, and packs what belongs to the commit alone.
 */
const readBack = `set -eu
base=$1 commit=$2 size=$3
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
git init -q --bare --template= .
head -c "$size" > new; cat > context
git index-pack --stdin --fsck-objects < new > /dev/null
git index-pack --stdin < context > /dev/null
echo "$base" > shallow
printf '%s\\n^%s\\n' "$commit" "$base" | git pack-objects -q --revs --no-sparse --stdout > sent
git log -z --no-color --no-show-signature --max-count=10 --format='%H %an <%ae>%x09%s' "$base..$commit" > commits
git diff-tree -r --no-renames --numstat -z "$base" "$commit" > files
printf '%s %s %s\n' "$(git rev-list --count "$base..$commit")" "$(wc -c < commits)" "$(wc -c < files)"
cat commits files sent`;

/**
 * What pushing this commit would send to a server that has the commits `known`. The same input has
 * the same result, whatever happened at the server. Rejects with `not_found`, `conflict`,
 * `rejected`, `too_large` or `timeout`.
 */
export async function pushedChange(
  { folder, commit, known }: { readonly folder: string; readonly commit: string; readonly known: readonly string[] },
  { workspace, sandbox, signal }: { workspace: Workspace; sandbox: Sandbox; signal: AbortSignal },
): Promise<PushedChange> {
  const bounds = { workspace: workspace.root, timeoutMs: gitMs };
  const maxBytes = 2 * maxPack;
  const taken = await runGit(
    { ...bounds, script: takeOut, args: [folder, commit, ...known], maxBytes },
    { sandbox, signal },
  );
  if (taken.exitCode !== 0) throw refusal(taken.exitCode, folder, commit, taken.complaint);
  const end = taken.output.indexOf("\n");
  const [base = "", size = ""] = taken.output.subarray(0, end).toString("latin1").split(" ");
  if (!known.includes(base) || !/^\d{1,10}$/.test(size)) throw refusal(5, folder, commit, "");
  const packs = [taken.output.subarray(end + 1)];
  const read = await runGit(
    { ...bounds, script: readBack, args: [base, commit, size], input: packs, maxBytes: maxPack + maxDescription },
    { sandbox, signal },
  );
  if (read.exitCode !== 0)
    throw new AppError("rejected", `What ${commit.slice(0, 12)} holds is damaged or incomplete: ${read.complaint}`);
  return { base, ...described(read.output) };
}

function refusal(exitCode: number, folder: string, commit: string, complaint: string): AppError {
  if (exitCode === 3) return new AppError("not_found", `There is no commit ${commit} in ${folder}.`);
  if (exitCode === 4) return new AppError("conflict", "The server has that commit already; there is nothing to push.");
  if (exitCode === 5)
    return new AppError(
      "conflict",
      `The commit ${commit.slice(0, 12)} does not stand on one commit that was cloned into ${folder}. Make your commits on top of what was cloned or pushed last.`,
    );
  return new AppError("rejected", `git in ${folder} does not return the commit: ${complaint}`);
}

/** The head, the commits, the files and the pack, as `readBack` writes them. */
function described(output: Buffer): Omit<PushedChange, "base"> {
  const end = output.indexOf("\n") + 1;
  const [commits = 0, ofCommits = 0, ofFiles = 0] = output.subarray(0, end).toString("latin1").split(" ").map(Number);
  const entries = (from: number, bytes: number) =>
    output
      .subarray(from, from + bytes)
      .toString("utf8")
      .split("\0")
      .filter((entry) => entry !== "");
  const newest = entries(end, ofCommits).map((entry) => {
    const [head = "", ...subject] = entry.split("\t");
    return { commit: head.slice(0, 40), author: head.slice(41), subject: subject.join("\t") };
  });
  const files = entries(end + ofCommits, ofFiles).map((entry) => {
    const [added = "-", removed = "-", ...path] = entry.split("\t");
    const lines = added === "-" ? undefined : { added: Number(added), removed: Number(removed) };
    return { path: path.join("\t"), lines };
  });
  return { commits, newest, files, pack: new Uint8Array(output.subarray(end + ofCommits + ofFiles)) };
}
