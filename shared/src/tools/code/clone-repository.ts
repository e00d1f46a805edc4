import * as z from "zod";
import { AppError } from "../../core/errors.ts";
import { defineTool } from "../../core/tools/define-tool.ts";
import type { Tool, ToolContext } from "../../core/tools/tool.ts";
import type { PolicedEgress } from "../../machine/egress/egress.ts";
import { runCommand } from "../../machine/sandbox/run-command.ts";
import type { Sandbox } from "../../machine/sandbox/sandbox.ts";
import { downloadArchive, isOnForge, type SourceAddress, sourceAddress } from "./archive/download-archive.ts";
import { placeEntries } from "./archive/place-entries.ts";
import { unpackArchive, unpackedText } from "./archive/unpack-archive.ts";
import { commitsNote } from "./commits-note.ts";
import { recordClone } from "./forge/clone-record.ts";
import { forgeFamily } from "./forge/push-branch.ts";
import { unnamedRepository } from "./forge/unnamed-repository.ts";
import { checkOut } from "./git/check-out.ts";
import { leftOutText } from "./git/left-out.ts";
import { hideFromGit, lfsCloneOf } from "./git/lfs-content.ts";
import { chooseRef, remoteRepository } from "./git/upload-pack.ts";
import type { GitHosts } from "./git-host.ts";
import { repositoryNotes } from "./repository-notes.ts";

const input = z.strictObject({
  url: z
    .string()
    .min(1)
    .max(2000)
    .describe("Such as https://github.com/OWNER/NAME, or the https address of an archive."),
  ref: z
    .string()
    .regex(/^(?!.*(?:\.\.|@\{))[\w@][\w./+#@-]{0,200}$/, "must be the name of a branch or tag, or a commit")
    .optional()
    .describe("Branch, tag or full commit hash; default: the default branch."),
  depth: z.int().min(1).max(1000).default(10).describe("Commits of history."),
  into: z.string().min(1).optional().describe("The new folder; default: the repository's name."),
});

type CloneInput = z.output<typeof input>;

const description = `Clones a repository, by its https address, into a new workspace folder, with its newest commits; or downloads an archive (.zip,
.tar.gz). What you change in it is handed over as a patch.`;
const withoutPush = "You cannot push or fetch again.";
const withPush = "push_branch, offered once you have cloned, pushes your commits.";

type CloneDeps = { readonly egress: PolicedEgress; readonly sandbox: Sandbox; readonly hosts: GitHosts };

/**
 * The `clone_repository` tool. All network access obeys the egress policy; git, which has no
 * network, builds the repository in the sandbox. Without git, it works for hosts that serve
 * repositories as archives.
 */
export function cloneRepositoryTool(deps: CloneDeps): Tool {
  return defineTool({
    name: "clone_repository",
    description: `${description.replaceAll("\n", " ")} ${deps.hosts.any ? withPush : withoutPush}`,
    input,
    effect: "once",
    ...(deps.hosts.any && { opens: forgeFamily }),
    // What a token opens is not for everybody, so such an address has to be named by the user.
    reach: {
      opens: ({ url }) => [url],
      reads: true,
      led: true,
      free: (url) => isOnForge(url) && deps.hosts.find(url) === undefined,
    },
    risk: async ({ url }, context) => unnamedRepository(url, deps.hosts, context),
    async impossible({ url }) {
      deps.egress.admit(sourceAddress(url, deps.hosts).url);
      return undefined;
    },
    edits: true,
    async run(given, context) {
      const source = sourceAddress(given.url, deps.hosts);
      if (source.kind === "repository" && (await hasGit(deps.sandbox, context)))
        return await cloned(source, given, deps, context);
      return await fetched(source, given, deps, context);
    },
  });
}

async function hasGit(sandbox: Sandbox, { workspace, signal }: ToolContext): Promise<boolean> {
  if (sandbox.tier === "none") return false;
  const { exitCode } = await runCommand(sandbox, { argv: ["git", "--version"], workspace: workspace.root }, { signal });
  return exitCode === 0;
}

const heads = "refs/heads/";

type Repository = Extract<SourceAddress, { kind: "repository" }>;

async function cloned(
  { url, name }: Repository,
  { ref: wanted, depth, into = name }: CloneInput,
  { egress, sandbox, hosts }: CloneDeps,
  { workspace, signal }: ToolContext,
): Promise<string> {
  const remote = await remoteRepository(url, { egress, hosts, signal });
  const refs = await remote.refs(wanted);
  const ref = chooseRef(refs, wanted);
  const pack = await remote.fetch(ref.oid, depth);
  const author = hosts.find(url)?.host.author;
  const inside = { workspace: workspace.root, sandbox, signal };
  const entries = checkOut({ url, ref, pack, author, workspace: workspace.root }, { sandbox, signal });
  const lfs = lfsCloneOf(entries, url, { egress, hosts, signal });
  const placed = await placeEntries({
    workspace,
    entries: lfs.entries,
    packedBytes: () => pack.bytes + lfs.bytes(),
    into,
    otherwise: into,
    signal,
    // A repository is not made for this machine, so a link to outside is not an attack.
    linksOutside: "leave out",
  });
  const isHidden = lfs.fetched.size === 0 || (await hideFromGit(placed.folder, lfs.fetched.keys(), inside));
  const defaultBranch = refs.find(({ name }) => name === "HEAD")?.branch;
  await recordClone(workspace, placed.folder, {
    url,
    commit: ref.oid,
    ...(ref.name?.startsWith(heads) && { branch: ref.name.slice(heads.length) }),
    ...(defaultBranch !== undefined && { defaultBranch: defaultBranch.slice(heads.length) }),
  });
  const at = ref.name === undefined ? "" : `${ref.name.replace(/^refs\/(heads|tags)\//, "")}, `;
  const history =
    pack.shallow.length === 0
      ? "its whole history"
      : `the last ${depth === 1 ? "commit" : `${depth} commits`} of its history`;
  const leftOut = await leftOutText(placed.folder, { ...inside, lfs, isHidden });
  const commits = hosts.find(url) === undefined ? await commitsNote(workspace, placed) : "";
  const notes = `${commits}${leftOut}${await repositoryNotes(workspace, placed)}`;
  return `${unpackedText(placed)}\nIt is ${url} at ${at}${ref.oid.slice(0, 12)}, with ${history}. git works in it.${notes}`;
}

async function fetched(
  source: SourceAddress,
  { ref = "HEAD", into = source.name }: CloneInput,
  { egress, sandbox }: CloneDeps,
  context: ToolContext,
): Promise<string> {
  const { workspace, signal } = context;
  const url = source.kind === "archive" ? source.url : source.archive?.(ref);
  if (url === undefined)
    throw new AppError("unsupported", "git is not installed here: give the address of an archive (.zip, .tar.gz).");
  await using archive = await downloadArchive(url, egress, context);
  const placed = await unpackArchive({ workspace, archive, into, otherwise: into, sandbox, signal });
  const notes = await repositoryNotes(workspace, placed);
  return `${unpackedText(placed)}\nIt came from ${url} without history: there is no git log, and git diff needs a commit first.${notes}`;
}
