import { expect, test } from "bun:test";
import { resolve } from "node:path";
import { agentByName } from "../../shared/src/flow/find-agent.ts";
import { downloadName } from "../../shared/src/machine/browser/save-download.ts";
import { mountedName } from "../../shared/src/mcp/client/servers/tool-name.ts";
import { writtenObject } from "../../shared/src/models/arguments.ts";
import { extract } from "../../shared/src/tools/code/archive/extract.ts";
import { linksIn } from "../../shared/src/tools/risk/links.ts";
import { addressesNamedIn } from "../../shared/src/tools/risk/named-hosts.ts";

/** Long enough for what takes the square of it to hold the server for a minute. */
const length = 200_000;
const run = (sign: string) => `${sign.repeat(length)}x`;

async function unpack(path: string): Promise<unknown> {
  const { signal } = new AbortController();
  const limits = { entries: 1, bytes: 1, ratio: 1, unremarkableBytes: 1 };
  async function* entries() {
    yield { path, kind: "file" as const, executable: false, content: async function* () {} };
  }
  return await extract(entries(), "/nowhere", { packedBytes: () => 1, limits, signal }).catch(() => undefined);
}

test.each<[string, () => unknown]>([
  ["a link in a page", () => linksIn(`http://a.example/${run(".")}`)],
  ["an address in a task", () => addressesNamedIn(`http://a.example/${run("!")}`)],
  ["a word in a task", () => addressesNamedIn(run("é"))],
  ["the answer of another agent", () => writtenObject(run("{"))],
  ["the address of an agent for a flow", () => agentByName(`http://a${run("/")}`, [entry])],
  ["the name of a download", () => downloadName(`a${run(".")}`)],
  ["a name in an archive", () => unpack(`a${run("/")}`)],
  ["the name of a server's tool", () => mountedName("a", `a${run("_")}`)],
])("a long run of one sign holds no server: %s", async (_, act) => {
  const begun = performance.now();
  await act();
  expect(performance.now() - begun).toBeLessThan(2_000);
});

const entry = { name: "a", title: "A", url: "http://b.example", description: "", kind: "agent", skills: [] } as never;

/**
 * A pattern for the end of a text that begins with what repeats: it is tried from each place of a
 * run. `(?<!X)X+$` is tried once.
 */
const endOfRun = /(?<=[(,=:|&?\s]\/|[^\\]\|)(?:\\.|\[(?:[^\]\\\n]|\\.)*\]|[\w=\-"'.])[+*]\$\/[a-z]*(?=[\s.,;)])/g;

/** The same where anything may come before: `.*?` is tried with each place of a run as its end. */
const endAfterAnything = /\.\*\?\)?(?:\\s|\[[^\]\n]*\]|[#=_.-])[*+][^/\n]*\$\/[a-z]*(?=[\s.,;)])/g;

/** Blanks from the beginning of a line on, which are lines too: `[^\S\n]*` stays in its line. */
const runOfLines = /\^\\s[*+][^/\n]*\/[gisuv]*m[gisuv]*(?=[\s.,;)])/g;

test("no pattern of ours looks for the end of a run from each of its places", async () => {
  const found: string[] = [];
  for (const folder of ["shared/src", "gateway/src", "flows/src", "agents"]) {
    const cwd = resolve(import.meta.dir, "../..", folder);
    for await (const path of new Bun.Glob("**/*.{ts,tsx}").scan({ cwd })) {
      if (/\.test\.ts$|node_modules|(?:^|\/)testing\//.test(path)) continue;
      const text = await Bun.file(resolve(cwd, path)).text();
      for (const pattern of [endOfRun, endAfterAnything, runOfLines].flatMap((one) => text.match(one) ?? []))
        found.push(`${folder}/${path}: ${pattern}`);
    }
  }
  // What these read has no such runs, or is no stranger's.
  const known = [
    ...["gateway/src/registry/registry.ts", "shared/src/config/git-config.ts", "shared/src/skills/skill-text.ts"],
    ...["shared/src/machine/confinement/", "shared/src/models/rehearsal/"],
  ];
  expect(found.filter((one) => !known.some((path) => one.startsWith(path)))).toEqual([]);
  expect("x.replace(/\\/+$/, '') y.replace(/^a|[.\\s]+$/g, '')".match(endOfRun)).toHaveLength(2);
  expect("const heading = /^(#{1,6})\\s+(.*?)\\s*#*$/;".match(endAfterAnything)).toHaveLength(1);
  expect("text.replaceAll(/^\\s*- /gm, '')".match(runOfLines)).toHaveLength(1);
});
