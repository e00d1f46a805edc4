import { expect, test } from "bun:test";
import type { EgressRequest } from "../../../machine/egress/fetch-within.ts";
import { createGitHosts } from "../git-host.ts";
import { packetLine } from "./packets.ts";
import { chooseRef, remoteRepository } from "./upload-pack.ts";

const oid = "a".repeat(40);
const hosts = createGitHosts([
  {
    ...{ host: "git.example", kind: "git", token: "secret", username: "ann", api: "", repositories: undefined },
    ...{ push: "ask", author: { name: "Many", email: "many@example.com" } },
  },
]);
const basic = `Basic ${btoa("ann:secret")}`;
const address = "https://git.example/ann/app";
const suffix = "/info/refs?service=git-upload-pack";
const capabilities = ["version 2", "ls-refs", "fetch=shallow"].map(packetLine).join("");
const type = "application/x-git-upload-pack-advertisement";

type Answer = { readonly status?: number; readonly type?: string; readonly at?: string; readonly posted?: number };

/** A repository whose server answers this, and what it was asked. */
function server({ status = 200, type: contentType = type, at, posted = 200 }: Answer = {}) {
  const asked: EgressRequest[] = [];
  const fetch = async (request: EgressRequest) => {
    asked.push(request);
    const isPost = request.body !== undefined;
    const url = new URL(!isPost && at !== undefined ? at : String(request.url));
    const refs = `${packetLine(`${oid} HEAD symref-target:refs/heads/main`)}0000`;
    const pack = `${packetLine("packfile")}0009\x01PACK0000`;
    const body = isPost ? (String(request.body).includes("ls-refs") ? refs : pack) : capabilities;
    return { url, status: isPost ? posted : status, headers: { "content-type": contentType }, body: Buffer.from(body) };
  };
  const { signal } = new AbortController();
  return { asked, signal, open: () => remoteRepository(address, { egress: { fetch }, hosts, signal }) };
}
const shown = (asked: readonly EgressRequest[]) =>
  asked.map(({ url, headers }) => [String(url), headers?.authorization, headers?.["git-protocol"]]);

test("a repository is asked under the address it answered at, with its host's token, in the time and size for each", async () => {
  const at = `https://git.example/moved/app.git${suffix}`;
  const { asked, signal, open } = server({ at });
  const remote = await open();
  expect(await remote.refs("main")).toEqual([{ oid, name: "HEAD", branch: "refs/heads/main" }]);
  expect((await remote.fetch(oid, 3)).bytes).toBe(4);
  const post = "https://git.example/moved/app.git/git-upload-pack";
  expect(shown(asked)).toEqual([
    [`${address}${suffix}`, basic, "version=2"],
    [post, basic, "version=2"],
    [post, basic, "version=2"],
  ]);
  const megabyte = 1024 ** 2;
  expect(asked.map(({ timeoutMs, maxBytes }) => [timeoutMs, maxBytes])).toEqual([
    [30_000, 5 * megabyte],
    [30_000, 5 * megabyte],
    [180_000, 100 * megabyte],
  ]);
  expect(asked.every((request) => request.signal === signal)).toBe(true);
  const lines = (text: unknown) => String(text).match(/(?<=[\da-f]{4})(?:ref-prefix|deepen|want) .*/g);
  expect([lines(asked[1]?.body), lines(asked[2]?.body)]).toEqual([
    ["ref-prefix HEAD", "ref-prefix refs/heads/main", "ref-prefix refs/tags/main"],
    ["deepen 3", `want ${oid}`],
  ]);
  for (const { admit } of asked)
    await expect(admit?.(new URL("http://git.example/"))).rejects.toMatchObject({ code: "forbidden" });
});

test("another host that the address leads to is asked anew, in the protocol's words, and sees no token", async () => {
  const { asked, open } = server({ at: `https://mirror.example/app${suffix}` });
  await (await open()).refs(undefined);
  expect(shown(asked)).toEqual([
    [`${address}${suffix}`, basic, "version=2"],
    [`https://mirror.example/app${suffix}`, undefined, "version=2"],
    ["https://mirror.example/app/git-upload-pack", undefined, "version=2"],
  ]);
});

test.each<[Answer, string]>([
  [{ status: 401 }, "not_found"],
  [{ status: 403 }, "not_found"],
  [{ status: 404 }, "not_found"],
  [{ status: 410 }, "not_found"],
  [{ status: 204 }, "unavailable"],
  [{ status: 500 }, "unavailable"],
  [{ type: "text/html" }, "not_found"],
  [{ at: "https://git.example/login" }, "not_found"],
])("an address that answers %j is %s", async (answer, code) => {
  await expect(server(answer).open()).rejects.toMatchObject({ code });
});

test.each([204, 403, 500])("a repository that answers a question with %d is unavailable", async (posted) => {
  const remote = await server({ posted }).open();
  await expect(remote.refs(undefined)).rejects.toMatchObject({ code: "unavailable" });
});

test("a commit is meant by all its digits, a branch before a tag before a commit, and anything else by nothing", () => {
  const other = "b".repeat(40);
  expect(chooseRef([], oid)).toEqual({ oid });
  expect(chooseRef([{ name: `refs/tags/${oid}`, oid: other }], oid)).toEqual({ oid: other, name: `refs/tags/${oid}` });
  for (const wanted of [oid.slice(1), `${oid}a`, "main"])
    expect(() => chooseRef([{ name: "HEAD", oid }], wanted)).toThrow(expect.objectContaining({ code: "not_found" }));
});
