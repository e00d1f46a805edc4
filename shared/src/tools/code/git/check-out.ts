import { AppError } from "../../../core/errors.ts";
import { killOnAbort } from "../../../machine/sandbox/kill-on-abort.ts";
import type { Sandbox } from "../../../machine/sandbox/sandbox.ts";
import type { ArchiveEntry } from "../archive/archive-entry.ts";
import { readTar } from "../archive/read-tar.ts";
import type { ChosenRef, FetchedPack } from "./upload-pack.ts";

/** The input from which git makes a repository. */
export type CheckOut = {
  readonly url: string;
  readonly ref: ChosenRef;
  readonly pack: FetchedPack;
  /** Who commits in it, unless a commit says otherwise. */
  readonly author?: { readonly name: string; readonly email: string } | undefined;
  /** A workspace to run in. */
  readonly workspace: string;
};

const checkOutMs = 180_000;
/**
 * The script's exit code when there are more files or bytes than an archive may have: a handful of
 * objects can stand for billions.
 */
const tooMuch = 9;

/**
 * Reads the pack, makes the repository where only this process can see it, and writes it out as an
 * archive of one folder.
 */
const script = `set -eu
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
mkdir "$folder/clone"; cd "$folder/clone"
git init -q --template= .
url=$1 oid=$2 name=$3 author=$4 email=$5; shift 5
git remote add origin "$url"
if [ -n "$email" ]; then git config user.name "$author"; git config user.email "$email"; fi
if [ $# -gt 0 ]; then printf '%s\\n' "$@" > .git/shallow; fi
git index-pack --stdin > /dev/null
git ls-tree -r -l --full-tree "$oid" | awk '{ bytes += $4 } NR > 20000 || bytes > 500000000 { over = ${tooMuch}; exit } END { exit over }'
case "$name" in
refs/heads/*)
  branch="\${name#refs/heads/}"
  git symbolic-ref HEAD "$name"
  git update-ref "$name" "$oid"
  git update-ref "refs/remotes/origin/$branch" "$oid"
  git config "branch.$branch.remote" origin
  git config "branch.$branch.merge" "$name"
  git reset -q --hard ;;
refs/tags/*) git update-ref "$name" "$oid"; git checkout -q --detach "$oid" ;;
*) git checkout -q --detach "$oid" ;;
esac
cd ..
tar -cf - clone`;

const environment = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_TERMINAL_PROMPT: "0" };

/**
 * The files of a fetched commit with their `.git`, in one folder, as git checks them out inside the
 * sandbox, which has no network. Throws `rejected` for input that git does not accept, `too_large`
 * for what does not fit into the sandbox, `timeout`, or the signal's reason.
 */
export async function* checkOut(
  { url, ref, pack, author, workspace }: CheckOut,
  { sandbox, signal }: { readonly sandbox: Sandbox; readonly signal: AbortSignal },
): AsyncGenerator<ArchiveEntry> {
  const argv = [
    "sh",
    "-c",
    script,
    "sh",
    url,
    ref.oid,
    ref.name ?? "",
    author?.name ?? "",
    author?.email ?? "",
    ...pack.shallow,
  ];
  const process = await sandbox.spawn({ argv, workspace, env: environment });
  const late = AbortSignal.timeout(checkOutMs);
  using _ = killOnAbort(process, AbortSignal.any([signal, late]));
  const complaint = new Response(process.stderr).text();
  for (const chunk of pack.chunks) process.stdin.write(chunk);
  process.stdin.end();
  let damage: unknown;
  try {
    yield* readTar(process.stdout);
  } catch (error) {
    damage = error;
  }
  const exitCode = await process.exited;
  signal.throwIfAborted();
  if (late.aborted) throw new AppError("timeout", `git did not check it out within ${checkOutMs / 1000} s.`);
  if (exitCode !== 0) throw refusal(exitCode, await complaint, await process.limitHit());
  if (damage !== undefined) throw damage;
}

function refusal(exitCode: number, complaint: string, limit: string | undefined): AppError {
  if (exitCode === tooMuch || limit !== undefined || /no space left/i.test(complaint))
    return new AppError("too_large", "It is larger than what can be checked out here.");
  return new AppError("rejected", `git does not accept it: ${complaint.trim().slice(0, 300)}`);
}
