import { sanitizeLine } from "../../../core/text/sanitize.ts";
import { quoted } from "../../risk/judge-action.ts";
import type { PushedChange } from "./pushed-change.ts";

const maxFiles = 30;

/** A push as a person is asked about it. */
export type ProposedPush = {
  readonly url: string;
  readonly branch: string;
  readonly isDefault: boolean;
  readonly commit: string;
  /** The title of the pull request and the branch it asks to be merged into. */
  readonly request: { readonly title: string; readonly base: string } | undefined;
};

/**
 * What a push would do, in words by code. Names and subjects are others' words, each on one line
 * and of bounded length. `change` is a sentence where what it holds could not be read.
 */
export function pushText({ url, branch, isDefault, commit, request }: ProposedPush, change: PushedText): string {
  const where = `${isDefault ? "the default branch" : "branch"} ${quoted(branch)} of ${url}`;
  const opening =
    request === undefined ? "" : `, and open a pull request ${quoted(request.title)} into ${quoted(request.base)}`;
  if (typeof change === "string") return `Push commit ${commit} to ${where}${opening}. ${change}`;
  const { base, commits, newest, files } = change;
  const count = commits === 1 ? "1 commit" : `${commits} commits`;
  const subjects = newest.map((one) => `- ${one.commit.slice(0, 12)} ${line(one.author)}: ${line(one.subject)}`);
  const paths = files.slice(0, maxFiles).map(({ path, lines }) => {
    const size = lines === undefined ? "not text" : `+${lines.added} −${lines.removed}`;
    return `- ${line(path)} (${size})`;
  });
  const automation = automationIn(files);
  return [
    `Push ${count} up to ${commit} to ${where}, on top of ${base.slice(0, 12)}${opening}.`,
    ...subjects,
    ...(commits > newest.length ? [`- and ${commits - newest.length} earlier commits`] : []),
    files.length === 0
      ? "No file differs."
      : `${files.length === 1 ? "1 file differs" : `${files.length} files differ`}:`,
    ...paths,
    ...(files.length > maxFiles ? [`- and ${files.length - maxFiles} more`] : []),
    ...(automation.length > 0
      ? [`The server may run what these say: ${automation.map((path) => line(path)).join(", ")}`]
      : []),
  ].join("\n");
}

/** What a push holds, or why that is not known. */
export type PushedText = Omit<PushedChange, "pack"> | string;

const automated =
  /^(?:\.github\/|\.gitlab-ci|\.gitlab\/|\.(?:gitea|forgejo)\/|\.woodpecker|\.drone|\.circleci\/|\.travis|\.buildkite\/|azure-pipelines|Jenkinsfile|bitbucket-pipelines)/i;

/** The files that a server reads to decide what it runs. */
export function automationIn(files: PushedChange["files"]): readonly string[] {
  return files.map(({ path }) => path).filter((path) => automated.test(path));
}

function line(text: string): string {
  return sanitizeLine(text, 160);
}
