import * as z from "zod";
import { AppError, messageOf } from "../../../core/errors.ts";
import { defineTool } from "../../../core/tools/define-tool.ts";
import type { Tool, ToolContext } from "../../../core/tools/tool.ts";
import type { Workspace } from "../../../core/workspace.ts";
import type { Egress } from "../../../machine/egress/egress.ts";
import type { Sandbox } from "../../../machine/sandbox/sandbox.ts";
import type { GitHosts, HostedRepository } from "../git-host.ts";
import { type CloneRecord, clonedFolders, cloneRecordOf, recordPush, withoutPush } from "./clone-record.ts";
import { forgeApi, type Proposal } from "./forge-api.ts";
import { automationIn, type PushedText, pushText } from "./push-text.ts";
import { pushedChange } from "./pushed-change.ts";
import { pushableRepository } from "./receive-pack.ts";

const branchName = z
  .string()
  .regex(
    /^(?!refs\/|HEAD$|.*(?:\.\.|\/\/|\/\.|@\{|\.lock(?:\/|$)|[./]$))\w[\w./+#@-]{0,199}$/,
    "must be the name of a branch, such as fix/total",
  );

const input = z.strictObject({
  folder: z.string().min(1).describe("Where clone_repository put it."),
  branch: branchName.describe("The branch at the server; new, or one you pushed to."),
  commit: z
    .string()
    .regex(/^[0-9a-f]{40}$/, "must be all 40 digits of a commit, as git rev-parse HEAD prints them")
    .describe("All 40 digits, as `git rev-parse HEAD` prints them."),
  title: z.string().trim().min(1).max(250).optional().describe("Opens a pull request (merge request) with this title."),
  body: z.string().max(30_000).default("").describe("Its text, in Markdown."),
  base: branchName.optional().describe("The branch it is to be merged into; default: the repository's default branch."),
});

type PushInput = z.output<typeof input>;

const description = `Pushes a commit of a cloned repository, made with git in bash, to a branch of the server it came from,
and with a title opens a pull request for it. A person is asked first. Commits of others are never overwritten.`;

/** What pushing needs. The hosts' tokens never leave it but for their hosts. */
export type ForgeDeps = { readonly egress: Egress; readonly sandbox: Sandbox; readonly hosts: GitHosts };

/** Tools for the server of a repository appear once one was cloned, or is spoken of. */
export const forgeFamily = "forge";

/**
 * The `push_branch` tool. What it sends is determined by the commit's hash; the person who is asked
 * sees the repository, the branch, the hash and what the commits hold. Made again after a crash, it
 * pushes nothing that is there and opens no second pull request.
 */
export function pushBranchTool(deps: ForgeDeps): Tool {
  return defineTool({
    name: "push_branch",
    family: forgeFamily,
    description: description.replaceAll("\n", " "),
    input,
    effect: "idempotent",
    parallel: false,
    async risk(given, { workspace, signal }) {
      const place = await placeOf(given.folder, workspace, deps.hosts);
      return place === undefined ? undefined : riskOf(place, given, { ...deps, workspace, signal });
    },
    async impossible(given, { workspace, signal }) {
      const place = await pushablePlace(given, workspace, deps.hosts);
      // What was pushed before is there, or can be put back.
      if (!isKnown(place.record, given)) await changeOf(place, given, { ...deps, workspace, signal });
      return undefined;
    },
    // A permission for further pushes would cover what nobody has seen.
    sameKind: () => undefined,
    run: (given, context) => pushed(given, context, deps),
  });
}

/** A cloned folder, and the repository it came from. */
type Place = { readonly folder: string; readonly record: CloneRecord; readonly repository: HostedRepository };

async function placeOf(folder: string, workspace: Workspace, hosts: GitHosts): Promise<Place | undefined> {
  const name = folder.replace(/^\.\/+|(?<!\/)\/+$/g, "");
  const record = await cloneRecordOf(workspace, name);
  const repository = record && hosts.find(record.url);
  return record && repository && { folder: name, record, repository };
}

type Within = ForgeDeps & { readonly workspace: Workspace; readonly signal: AbortSignal };

/**
 * The commits that the server had before this push, so that a push that was made reads the same.
 */
function changeOf({ folder, record }: Place, given: PushInput, within: Within) {
  const known = [...new Set([record.commit, ...withoutPush(record, given).map(({ commit }) => commit)])];
  return pushedChange({ folder, commit: given.commit, known }, within);
}

async function riskOf(place: Place, given: PushInput, within: Within): Promise<string | undefined> {
  const { branch, commit, title } = given;
  const { url, defaultBranch } = place.record;
  const { push } = place.repository.host;
  if (push === "never") return undefined;
  const change: PushedText = await changeOf(place, given, within).catch((error: unknown) => {
    within.signal.throwIfAborted();
    return `What it holds cannot be read: ${messageOf(error)}`;
  });
  const isDefault = branch === (defaultBranch ?? branch);
  const isPlain = typeof change !== "string" && automationIn(change.files).length === 0;
  if (push === "allow" && !isDefault && isPlain) return undefined;
  const request = title === undefined ? undefined : { title, base: baseOf(place.record, given) };
  return pushText({ url, branch, isDefault, commit, request }, change);
}

function baseOf({ defaultBranch }: CloneRecord, { base }: PushInput): string {
  return base ?? defaultBranch ?? "main";
}

async function pushed(given: PushInput, { workspace, signal }: ToolContext, deps: ForgeDeps): Promise<string> {
  const place = await pushablePlace(given, workspace, deps.hosts);
  const { record, repository } = place;
  const { branch, commit, title } = given;
  const base = baseOf(record, given);
  const remote = await pushableRepository(record.url, { ...deps, signal });
  const tip = remote.tip(branch);
  const isThere = tip === commit;
  if (!isThere || !isKnown(record, given)) {
    const change = await changeOf(place, given, { ...deps, workspace, signal });
    if (!isThere) {
      if (tip !== undefined && tip !== change.base) throw movedOn(branch, tip);
      await remote.push({ branch, before: tip, commit, pack: change.pack });
    }
    await recordPush(workspace, place.folder, { branch, base: change.base, commit });
  }
  const done = `${isThere ? "It was there already" : "Pushed"}: ${branch} of ${record.url} is at ${commit}.`;
  if (title === undefined) return done;
  return `${done}\n${await requested(repository, { head: branch, base, title, body: given.body }, { ...deps, signal })}`;
}

/** The folder and its repository. Rejects if the settings or the call itself rule the push out. */
async function pushablePlace(given: PushInput, workspace: Workspace, hosts: GitHosts): Promise<Place> {
  const place = await placeOf(given.folder, workspace, hosts);
  if (place === undefined) throw await noPlace(given.folder, workspace);
  const { host } = place.repository;
  if (host.push === "never") throw new AppError("forbidden", `The settings let nobody push to ${host.host}.`);
  const { branch, title } = given;
  if (title !== undefined && baseOf(place.record, given) === branch)
    throw new AppError(
      "invalid_input",
      `A pull request from ${branch} into itself is not possible: name a new branch.`,
    );
  return place;
}

function isKnown({ commit, pushed: before }: CloneRecord, given: PushInput): boolean {
  return commit === given.commit || before.some((one) => one.branch === given.branch && one.commit === given.commit);
}

/** Opens the pull request unless one is open, also when two were opened at the same time. */
async function requested(
  repository: HostedRepository,
  proposal: Proposal,
  deps: Parameters<typeof forgeApi>[1],
): Promise<string> {
  const api = forgeApi(repository, deps);
  const { head, base } = proposal;
  const before = await api.openRequest(head, base);
  if (before !== undefined) return `Its pull request was open already: ${before}`;
  try {
    return `Opened a pull request into ${base}: ${await api.open(proposal)}`;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "rejected") throw error;
    const meanwhile = await api.openRequest(head, base);
    if (meanwhile === undefined) throw error;
    return `Its pull request was open already: ${meanwhile}`;
  }
}

function movedOn(branch: string, tip: string): AppError {
  return new AppError(
    "conflict",
    `${branch} is at ${tip} at the server, which your commit does not stand on; nothing was pushed, so nothing is overwritten. Push to a new branch.`,
  );
}

async function noPlace(folder: string, workspace: Workspace): Promise<AppError> {
  const cloned = await clonedFolders(workspace);
  const known = cloned.length === 0 ? "Nothing was cloned." : `Cloned were: ${cloned.join(", ")}.`;
  return new AppError(
    "not_found",
    `${folder} was not cloned from a repository that the settings give a token for ([git."HOST"] token, repositories). ${known}`,
  );
}
