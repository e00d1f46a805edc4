import * as z from "zod";
import { AppError } from "../../../core/errors.ts";
import { betweenMarks, sanitize } from "../../../core/text/sanitize.ts";
import { defineTool } from "../../../core/tools/define-tool.ts";
import type { Tool } from "../../../core/tools/tool.ts";
import type { GitHosts, HostedRepository } from "../git-host.ts";
import { forgeApi, type Issue } from "./forge-api.ts";
import { type ForgeDeps, forgeFamily } from "./push-branch.ts";
import { unnamedRepository } from "./unnamed-repository.ts";

const input = z.strictObject({
  url: z.string().min(1).max(2000).describe("Such as https://git.example/OWNER/NAME/issues/7."),
});

const spokenOf = /\b(?:issue|pull request|merge request|push)(?:e?s|ed)?\b|\/issues\/\d/i;

/** The `read_issue` tool: an issue of a repository that the settings name, with its comments. */
export function readIssueTool({ egress, hosts }: Omit<ForgeDeps, "sandbox">): Tool {
  return defineTool({
    name: "read_issue",
    family: forgeFamily,
    description: "Reads an issue of a repository by its address, with its comments, also a private one.",
    input,
    effect: "pure",
    neededFor: (text, from) => from === "user" && spokenOf.test(text),
    reach: { opens: ({ url }) => [url], reads: true, led: true },
    risk: async ({ url }, context) => unnamedRepository(repositoryOf(url), hosts, context),
    async run({ url }, { signal }) {
      const { repository, number } = issueAt(url, hosts);
      const issue = await forgeApi(repository, { egress, hosts, signal }).issue(number);
      return `${betweenMarks("issue", url, issueText(issue))}\nIts repository: https://${repository.host.host}/${repository.path}`;
    },
  });
}

const issuePath = /^(.+?)(?:\/-)?\/issues\/(\d{1,9})\/?$/;

/** The address of an issue's repository; the address itself if it is not an issue's. */
function repositoryOf(address: string): string {
  const url = URL.parse(address.trim());
  const [, path] = issuePath.exec(url?.pathname ?? "") ?? [];
  return url === null || path === undefined ? address : `${url.origin}${path}`;
}

function issueAt(address: string, hosts: GitHosts): { repository: HostedRepository; number: number } {
  const [, path = "", number = ""] = issuePath.exec(URL.parse(address.trim())?.pathname ?? "") ?? [];
  const repository = path === "" ? undefined : hosts.find(repositoryOf(address));
  if (path === "")
    throw new AppError(
      "invalid_input",
      `${address} is not the address of an issue, as https://HOST/OWNER/NAME/issues/7 is.`,
    );
  if (repository === undefined)
    throw new AppError("forbidden", `The settings give access to no repository at ${address} ([git."HOST"]).`);
  return { repository, number: Number(number) };
}

function issueText({ title, state, author, body, comments }: Issue): string {
  const said = comments.map((comment) => `\nComment by ${comment.author}:\n${comment.body}`);
  return sanitize([`${title} (${state}, by ${author})`, "", body, ...said].join("\n"));
}
