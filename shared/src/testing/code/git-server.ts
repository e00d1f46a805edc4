import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** git's own server behind HTTP, over the repositories of a new folder. */
export type GitServer = {
  /** Where its repositories are. */
  readonly folder: string;
  readonly server: Bun.Server<undefined>;
  /** The requested paths, in order. */
  readonly asked: readonly string[];
  /**
   * Creates a repository `NAME.git` with a shell script that starts in an empty work tree with a
   * `main` branch.
   */
  make(name: string, script: string): Promise<void>;
  /** What git answers to a request. */
  answer(url: URL, request: Request): Promise<Response>;
  close(): Promise<void>;
};

/**
 * Serves them as `git http-backend` does; `before` may answer instead. Over TLS if there is a
 * certificate.
 */
export async function startGitServer(
  before: (url: URL, request: Request) => Response | undefined | Promise<Response | undefined> = () => undefined,
  tls?: { readonly key: Bun.BunFile; readonly cert: Bun.BunFile },
): Promise<GitServer> {
  const folder = await mkdtemp(join(tmpdir(), "manyhands-git-"));
  const asked: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    ...(tls && { tls }),
    async fetch(request) {
      const url = new URL(request.url);
      asked.push(url.pathname);
      return (await before(url, request)) ?? (await backend(folder, url, request));
    },
  });
  return {
    folder,
    server,
    asked,
    async make(name, script) {
      const env = { PATH: process.env.PATH ?? "", HOME: folder, ...identity };
      const shell = `set -e; mkdir work && cd work && git init -q -b main && ${script}\ngit clone -q --bare . ../${name}.git; cd ..; rm -rf work`;
      const { exitCode, stderr } = Bun.spawnSync(["bash", "-c", shell], { cwd: folder, env });
      if (exitCode !== 0) throw new Error(stderr.toString());
    },
    answer: (url, request) => backend(folder, url, request),
    async close() {
      await server.stop(true);
      await rm(folder, { recursive: true });
    },
  };
}

const identity = {
  GIT_AUTHOR_NAME: "ann",
  GIT_AUTHOR_EMAIL: "ann@example.com",
  GIT_COMMITTER_NAME: "ann",
  GIT_COMMITTER_EMAIL: "ann@example.com",
};

/** Handles one request by the Common Gateway Interface. */
async function backend(folder: string, url: URL, request: Request): Promise<Response> {
  const child = Bun.spawn(["git", "-c", "safe.directory=*", "-c", "http.receivepack=true", "http-backend"], {
    env: {
      PATH: process.env.PATH ?? "",
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers.get("content-type") ?? "",
      GIT_PROTOCOL: request.headers.get("git-protocol") ?? "",
    },
    stdin: await request.bytes(),
    stderr: "ignore",
  });
  const answer = await new Response(child.stdout).bytes();
  const end = Buffer.from(answer).indexOf("\r\n\r\n");
  const head = Buffer.from(answer.subarray(0, end)).toString("latin1").split("\r\n");
  const headers = head.map((line): [string, string] => {
    const [name = "", ...value] = line.split(": ");
    return [name, value.join(": ")];
  });
  const status = Number.parseInt(headers.find(([name]) => name === "Status")?.[1] ?? "200", 10);
  return new Response(answer.slice(end + 4), { status, headers: headers.filter(([name]) => name !== "Status") });
}
