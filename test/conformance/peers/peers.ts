import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

/**
 * Another maker's implementation of A2A, as `install.ts` installs it and a script beside this file
 * uses it.
 */
export type Peer = {
  /** The name of its script, and of its folder. */
  readonly name: string;
  /**
   * From PyPI, npm, or the commit of a repository; in the versions these tests were written for.
   */
  readonly from:
    | { readonly pypi: readonly string[] }
    | { readonly npm: readonly string[] }
    | { readonly git: string; readonly commit: string };
  /** What its client can do beyond one question and its answer; it has none if omitted. */
  readonly client?: { readonly answersQuestions: boolean; readonly keepsContext: boolean };
  /** Whether its script can serve an agent. */
  readonly serves: boolean;
};

const everything = { answersQuestions: true, keepsContext: true };

/** The peers, each a row of the table in docs/reference/a2a-conformance.md. */
export const peers: readonly Peer[] = [
  { name: "a2a-sdk-1", from: { pypi: ["a2a-sdk[http-server]==1.3.0", "uvicorn"] }, client: everything, serves: true },
  {
    name: "a2a-sdk-0.3",
    from: { pypi: ["a2a-sdk[http-server]==0.3.26", "uvicorn"] },
    client: everything,
    serves: true,
  },
  { name: "google-adk", from: { pypi: ["google-adk[a2a]==2.13.0"] }, client: everything, serves: true },
  {
    name: "google-adk-js",
    from: { npm: ["@google/adk@2.0.0", "express@5.3.0"] },
    client: { answersQuestions: false, keepsContext: true },
    serves: true,
  },
  {
    name: "mastra",
    from: { npm: ["@mastra/core@1.71.0", "@mastra/hono@1.7.9", "@mastra/server@1.67.0", "hono@4.13.19"] },
    client: { answersQuestions: true, keepsContext: false },
    serves: true,
  },
  {
    name: "strands",
    from: { pypi: ["strands-agents[a2a,openai]==1.62.0"] },
    client: { answersQuestions: false, keepsContext: false },
    serves: true,
  },
  {
    name: "beeai",
    from: { pypi: ["beeai-framework[a2a,mcp]==0.1.85", "litellm==1.94.3"] },
    client: everything,
    serves: true,
  },
  {
    name: "agent-framework",
    from: {
      pypi: [
        "agent-framework-core==1.23.0",
        "agent-framework-a2a==1.0.0b261022",
        "a2a-sdk[http-server]==1.3.0",
        "uvicorn",
      ],
    },
    client: everything,
    serves: true,
  },
  {
    name: "pydantic-ai",
    from: { pypi: ["fasta2a[pydantic-ai]==2.1.1", "pydantic-ai-slim==2.68.0", "uvicorn"] },
    serves: true,
  },
  {
    name: "a2a-inspector",
    from: { git: "https://github.com/a2aproject/a2a-inspector", commit: "8098818f97c6b8554f1f83636508a9608842f5a0" },
    serves: false,
  },
];

/** The folder the peers are installed in, if there is one. */
const folder = process.env.A2A_PEERS;

/** The file that says that a peer's installation came to its end. */
export const installedMark = ".installed";

/** Whether a peer is installed. */
export function isInstalled({ name }: Peer): boolean {
  return folder !== undefined && existsSync(join(folder, name, installedMark));
}

/** How the name of a test ends that needs a peer: with how to get it, if it is not here. */
export function unlessInstalled(peer: Peer): string {
  return isInstalled(peer) ? "" : " (skipped: bun test/conformance/peers/install.ts, and A2A_PEERS)";
}

/** The command that runs a peer's script, and its environment. */
export function scriptOf({ name, from }: Peer): { command: string[]; env: Record<string, string> } {
  const home = resolve(folder ?? "", name);
  const script = (extension: string) => join(import.meta.dir, `${name}.fixture.${extension}`);
  const python = "pypi" in from ? join(home, "bin/python") : "python3";
  const command = "npm" in from ? [process.execPath, script("ts")] : [python, script("py")];
  return { command, env: { PATH: process.env.PATH ?? "", PYTHONDONTWRITEBYTECODE: "1", MANYHANDS_PEER: home } };
}
