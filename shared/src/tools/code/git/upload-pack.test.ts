import { afterAll, beforeAll, expect, test } from "bun:test";
import { createEgress, type Egress } from "../../../machine/egress/egress.ts";
import { noGitHosts } from "../git-host.ts";
import { chooseRef, remoteRepository } from "./upload-pack.ts";

const host = "https://git.example";
const oid = "a".repeat(40);
const line = (text: string) => (text.length + 4).toString(16).padStart(4, "0") + text;
const advertised = (...lines: string[]) =>
  `001e# service=git-upload-pack\n0000${lines.map((each) => line(`${each}\n`)).join("")}0000`;
const headers = { "content-type": "application/x-git-upload-pack-advertisement" };
const sound = () => advertised("version 2", "ls-refs", "fetch=shallow");
const head = `${line(`${oid} HEAD symref-target:refs/heads/main\n`)}0000`;
const shallow = line(`shallow ${oid}\n`).repeat(6_000);

/** A server's response to each of the three requests, and the expected message. */
const servers: Readonly<Record<string, readonly [advertisement: string, refs: string, pack: string, said: string]>> = {
  older: [advertised(`${oid} HEAD\0multi_ack`), "", "", "does not speak version 2"],
  otherHashes: [
    advertised("version 2", "fetch=shallow", "object-format=sha256"),
    "",
    "",
    "does not name its objects by SHA-1",
  ],
  nothing: [sound(), "0000", "", "no commit"],
  cutShort: [sound(), "00ff123", "", "cut off, or is not git's"],
  oddLength: [sound(), "0002", "", "cut off, or is not git's"],
  refuses: [sound(), line("ERR go \x1b[31maway\nnow\n"), "", "The server says: go  [31maway now"],
  noObjects: [sound(), head, "0000", "no objects"],
  oddName: [sound(), `${line(`${oid} HEAD symref-target:refs/heads/$(id);x\n`)}0000`, "0000", "no objects"],
  complains: [sound(), head, `${line("packfile\n")}${line("\x03out of memory")}`, "The server says: out of memory"],
  shallows: [
    sound(),
    head,
    `${line("shallow-info\n")}${shallow}0001${line("packfile\n")}${line("\x01PACK")}0000`,
    "depth",
  ],
};

let site: Bun.Server<undefined>;
let egress: Egress;
beforeAll(() => {
  site = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const [advertisement, refs, pack] = servers[new URL(request.url).pathname.split("/")[1] ?? ""] ?? [];
      if (request.method === "GET") return new Response(advertisement, { headers });
      return new Response((await request.text()).includes("command=ls-refs") ? refs : pack);
    },
  });
  const inner = createEgress({ allow: [site.url.host], deny: [], only: [] });
  const named = (url: URL) => new URL(url.href.replace(site.url.origin, host));
  egress = {
    async fetch(request) {
      const url = String(request.url).replace(host, site.url.origin);
      const response = await inner.fetch({ ...request, url, admit: async (hop) => request.admit?.(named(hop)) });
      return { ...response, url: named(response.url) };
    },
  };
});
afterAll(() => site.stop(true));

test.each(Object.keys(servers))(
  "for a server that does not answer like git's, the error says how (%s)",
  async (name) => {
    const cloning = async () => {
      const { signal } = new AbortController();
      const remote = await remoteRepository(`${host}/${name}`, { egress, hosts: noGitHosts, signal });
      const { oid } = chooseRef(await remote.refs(undefined), undefined);
      await remote.fetch(oid, 10);
    };
    await expect(cloning()).rejects.toThrow(servers[name]?.[3] ?? "");
  },
);

test("a branch name that a command or a reader could misread is refused", async () => {
  const { signal } = new AbortController();
  const remote = await remoteRepository(`${host}/oddName`, { egress, hosts: noGitHosts, signal });
  expect(chooseRef(await remote.refs(undefined), undefined)).toEqual({ oid });
});

test("of a branch and a tag of one name the branch is meant", () => {
  const refs = ["refs/tags/v1", "refs/heads/v1"].map((name, index) => ({ name, oid: String(index).repeat(40) }));
  expect(chooseRef(refs, "v1")).toEqual({ name: "refs/heads/v1", oid: "1".repeat(40) });
});
