import { expect, test } from "bun:test";
import { AppError } from "../../../core/errors.ts";
import type { Egress } from "../../../machine/egress/egress.ts";
import type { EgressRequest } from "../../../machine/egress/fetch-within.ts";
import { packetLine } from "../git/packets.ts";
import { createGitHosts, type GitHost } from "../git-host.ts";
import { pushableRepository } from "./receive-pack.ts";

const [one, other, none] = ["1".repeat(40), "2".repeat(40), "0".repeat(40)];
const hostOf = (rest: Partial<GitHost> = {}): GitHost => ({
  ...{ host: "git.example", kind: "git", token: "secret", username: "ann", api: "", repositories: undefined },
  ...{ push: "ask", author: { name: "Many", email: "many@example.com" }, ...rest },
});
const address = "https://git.example/ann/app";
const basic = `Basic ${btoa("ann:secret")}`;

/** A server that answers the advertisement and the push as a test says, and what it was asked. */
function server(
  answers: {
    capabilities?: string;
    status?: number;
    type?: string;
    report?: readonly string[];
    pushStatus?: number;
    at?: string;
  } = {},
) {
  const { capabilities = "report-status ofs-delta quiet", report = ["unpack ok", "ok refs/heads/fix"] } = answers;
  const asked: EgressRequest[] = [];
  const fetch = async (request: EgressRequest) => {
    asked.push(request);
    await request.admit?.(new URL(String(request.url)));
    const isPush = request.body !== undefined;
    const refs = packetLine(`${one} refs/heads/main\0${capabilities}`) + packetLine(`${other} refs/heads/fix`);
    const body = isPush
      ? report.map(packetLine).join("")
      : `${packetLine("# service=git-receive-pack")}0000${refs}0000`;
    const url = new URL(answers.at ?? String(request.url));
    const type = answers.type ?? "application/x-git-receive-pack-advertisement";
    const status = (isPush ? answers.pushStatus : answers.status) ?? 200;
    return { url, status, headers: { "content-type": type }, body: Buffer.from(body) };
  };
  const hosts = createGitHosts([hostOf({ repositories: ["ann/*"] })]);
  const { signal } = new AbortController();
  const open = () => pushableRepository(address, { egress: { fetch } as Egress, hosts, signal });
  return { asked, open };
}
const failure = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (error) => (error instanceof AppError ? `${error.code}: ${error.message}` : String(error)),
  );
const change = { branch: "fix", before: other, commit: one, pack: Buffer.from("PACK") };

test("a branch is set from where it was, in one request with the objects, with the token of its host", async () => {
  const { asked, open } = server();
  const repository = await open();
  expect([repository.tip("main"), repository.tip("fix"), repository.tip("none")]).toEqual([one, other, undefined]);
  await repository.push(change);
  await repository.push({ ...change, before: undefined });
  const [first, second, third] = asked;
  expect(String(first?.url)).toBe(`${address}/info/refs?service=git-receive-pack`);
  expect(String(second?.url)).toBe(`${address}/git-receive-pack`);
  for (const each of asked) expect(each.headers).toMatchObject({ authorization: basic });
  // A push may take longer than a question.
  expect(asked.map(({ timeoutMs }) => timeoutMs)).toEqual([30_000, 300_000, 300_000]);
  const told = (from: string) => `${from} ${one} refs/heads/fix\0 report-status ofs-delta agent=manyhands`;
  for (const [request, from] of [
    [second, other],
    [third, none],
  ] as const) {
    const line = told(from ?? "");
    const length = (Buffer.byteLength(line) + 4).toString(16).padStart(4, "0");
    expect(Buffer.from(request?.body as Uint8Array).toString()).toBe(`${length}${line}0000PACK`);
  }
});

test.each([
  [{ status: 401 }, "unauthorized: "],
  [{ status: 403 }, "unauthorized: "],
  [{ type: "text/html" }, "not_found: "],
  [{ capabilities: "ofs-delta" }, "unsupported: "],
])("a repository that answers with %j takes no push", async (answers, code) => {
  expect(await failure(server(answers).open())).toStartWith(code);
});

test.each([
  [{ report: ["unpack ok", "ok refs/heads/fix"] }, "done"],
  [
    { report: ["unpack ok", "ng refs/heads/fix stale info"] },
    "rejected: The server did not accept the push: stale info.",
  ],
  [
    { report: ["unpack error", "ok refs/heads/fix"] },
    "rejected: The server did not accept the push: unpack error, ok refs/heads/fix.",
  ],
  [
    { report: ["unpack ok", "ok refs/heads/fixed"] },
    "rejected: The server did not accept the push: it did not say why.",
  ],
  [{ report: ["ok refs/heads/fix"] }, "rejected: The server did not accept the push: ok refs/heads/fix."],
  [{ report: [] }, "rejected: The server did not accept the push: it did not say why."],
  [{ pushStatus: 403 }, `unauthorized: ${address} answered the push with status 403.`],
  [{ pushStatus: 401 }, `unauthorized: ${address} answered the push with status 401.`],
  [{ pushStatus: 500 }, `unavailable: ${address} answered the push with status 500.`],
])("a push that is answered with %j is %s", async (answers, told) => {
  const repository = await server(answers).open();
  expect(await failure(repository.push(change))).toBe(told);
});

test("a host that leads to another repository of its own is shown no token that is not for that one", async () => {
  const { asked, open } = server({ at: "https://git.example/eve/app/info/refs?service=git-receive-pack" });
  await (await open()).push(change);
  expect(String(asked[1]?.url)).toBe("https://git.example/eve/app/git-receive-pack");
  expect(asked[1]?.headers).not.toHaveProperty("authorization");
  for (const hop of ["https://other.example/ann/app", "http://git.example/ann/app", "https://git.example:444/ann/app"])
    await expect(asked[0]?.admit?.(new URL(hop))).rejects.toMatchObject({ code: "forbidden" });
});

test.each([
  ["https://git.example/ann/app", ["ann/app"], true],
  ["https://git.example/Ann/App.git", ["ann/app"], true],
  ["https://git.example/ann/app/", ["ANN/*"], true],
  ["https://git.example/ann/app2", ["ann/app"], false],
  ["https://git.example/anna/app", ["ann/*"], false],
  ["https://git.example/ann", ["ann/*"], false],
  ["https://git.example/eve/app", ["ann/*", "eve/app"], true],
  ["https://git.example/", undefined, false],
  ["https://git.example/eve/app", undefined, true],
  ["https://git.example:3000/eve/app", undefined, false],
  ["not an address", undefined, false],
])("the token is for %s where the settings list %j: %p", (url, repositories, isFor) => {
  const hosts = createGitHosts([hostOf({ repositories })]);
  expect([hosts.find(url) !== undefined, "authorization" in hosts.authorization(url)]).toEqual([isFor, isFor]);
  expect(createGitHosts([hostOf({ repositories, token: undefined })]).authorization(url)).toEqual({});
});

test.each([
  ["https://anything.example/", true],
  ["http://git.example/", false],
  ["http://127.0.0.1:3000/", true],
  ["http://127.0.0.1:3001/", false],
  ["http://localhost:3000/", false],
  ["http://[::1]:3000/", true],
])("%s is asked: %p", (url, isAdmitted) => {
  const hosts = createGitHosts(
    ["git.example", "127.0.0.1:3000", "localhost:3000", "[::1]:3000"].map((host) => hostOf({ host })),
  );
  const admit = () => hosts.admit(new URL(url));
  if (isAdmitted) expect(admit).not.toThrow();
  else expect(admit).toThrow(expect.objectContaining({ code: "forbidden" }));
});
